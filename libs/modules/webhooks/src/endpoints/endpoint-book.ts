/** Reads and changes the webhook endpoints of teams. Several processes may do so concurrently. */
import { decideAndAppend, loadState, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import type { Actor, EventMetadata } from '@tollgate/core';
import type { Clock, Ids } from '@tollgate/service-kit';
import {
  decodeEndpointEvent,
  endpointStream,
  versionOfEndpointEvent,
  type EndpointEvent,
  type EndpointOwner,
  decideEndpoints,
  evolveEndpoints,
  noEndpoints,
  type Endpoint,
  type EndpointCommand,
  type EndpointRefusal,
  type Endpoints,
} from './endpoint.ts';

export type EndpointBook = ReturnType<typeof createEndpointBook>;

export const endpointEvolution = {
  initial: noEndpoints,
  decode: (recorded: RecordedEvent) => decodeEndpointEvent(recorded),
  evolve: evolveEndpoints,
};

export function createEndpointBook(deps: { store: EventStore; clock: Clock; ids: Ids }) {
  const { store, clock, ids } = deps;
  const list = async (owner: EndpointOwner) =>
    (await loadState({ store, stream: endpointStream(owner), ...endpointEvolution })).state.endpoints;
  return {
    /** @throws StoreUnavailable */
    list,
    find: async (owner: EndpointOwner, id: string): Promise<Endpoint | undefined> =>
      (await list(owner)).find((each) => each.id === id),
    /** The endpoints after the command. */
    async change(
      owner: EndpointOwner,
      command: EndpointCommand,
      actor: Actor,
    ): Promise<
      | { kind: 'done'; endpoints: readonly Endpoint[]; events: readonly EndpointEvent[] }
      | { kind: 'refused'; refusal: EndpointRefusal; endpoints: readonly Endpoint[] }
    > {
      const causationId = ids.uuid();
      const cause = { correlationId: causationId, causationId, actor, recordedAt: clock.now() };
      const outcome = await decideAndAppend<Endpoints, EndpointEvent, EndpointRefusal>({
        store,
        stream: endpointStream(owner),
        ...endpointEvolution,
        decide: (state) => decideEndpoints(state, command),
        toNewEvents: (events) =>
          events.map((event) => {
            const metadata: EventMetadata = { schemaVersion: versionOfEndpointEvent(event), ...cause };
            return { id: ids.uuid(), ...event, metadata };
          }),
      });
      const { endpoints } = outcome.state;
      if (outcome.kind === 'refused') return { kind: 'refused', refusal: outcome.refusal, endpoints };
      return { kind: 'done', endpoints, events: outcome.kind === 'decided' ? outcome.events : [] };
    },
  };
}
