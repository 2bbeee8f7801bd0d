/**
 * The endpoints of all teams, in memory. Folded from their streams in the order of the store, either up to a follower's
 * position in the events of payments, or up to now.
 */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import { isRetryable, type Log } from '@tollgate/service-kit';
import { endpointEvolution } from './endpoint-book.ts';
import {
  endpointStreamPrefix,
  ownerOfEndpointStream,
  type EndpointOwner,
  noEndpoints,
  type Endpoint,
  type Endpoints,
} from './endpoint.ts';

/** An endpoint, and its start in the order of the store. */
export interface KnownEndpoint extends Endpoint {
  since: Position;
}

export type EndpointCount = Record<'enabled' | 'disabled', number>;

export type EndpointDirectory = ReturnType<typeof createEndpointDirectory>;

const nameOf = ({ environment, team }: EndpointOwner): string => `${environment}.${team}`;

export function createEndpointDirectory(log: Log) {
  const byOwner = new Map<string, EndpointOwner & Endpoints>();
  const since = new Map<string, Position>();
  const damaged = new Set<string>();
  let applied = beginning;

  function apply(event: RecordedEvent): void {
    if (event.position <= applied) return;
    applied = event.position;
    if (damaged.has(event.stream)) return;
    try {
      const owner = ownerOfEndpointStream(event.stream);
      const name = nameOf(owner);
      const decoded = endpointEvolution.decode(event);
      const after = endpointEvolution.evolve(byOwner.get(name) ?? noEndpoints, decoded);
      byOwner.set(name, { ...owner, ...after });
      if (decoded.type === 'EndpointAdded') since.set(decoded.data.id, event.position);
    } catch (error) {
      if (isRetryable(error)) throw error;
      damaged.add(event.stream);
      log.error(
        { error, stream: event.stream },
        'the webhook endpoints of a team cannot be read beyond an event',
      );
    }
  }

  const of = (owner: EndpointOwner) =>
    (byOwner.get(nameOf(owner))?.endpoints ?? []).map((each) => ({
      ...each,
      since: since.get(each.id) ?? beginning,
    }));

  return {
    /** An event that was applied before changes nothing. */
    apply,
    /** Reads up to a position, or to the end. @throws errors of the store */
    async catchUp(store: EventStore, upTo: Position | undefined, signal: AbortSignal): Promise<void> {
      if (upTo === beginning) return;
      const prefixes = [endpointStreamPrefix];
      for await (const item of store.subscribe({ from: beginning, prefixes, signal })) {
        if (item.kind === 'caught-up') return;
        if (upTo !== undefined && item.position > upTo) return;
        apply(item);
      }
    },
    of,
    /** Disabled ones, longest first. */
    disabled: (): (Endpoint & EndpointOwner)[] =>
      [...byOwner.values()]
        .flatMap(({ environment, team, endpoints }) =>
          endpoints.map((each) => ({ ...each, environment, team })),
        )
        .filter(({ disabled }) => disabled !== undefined)
        .toSorted((one, other) => (one.disabled?.at ?? 0) - (other.disabled?.at ?? 0)),
    count(): EndpointCount {
      const all = [...byOwner.values()].flatMap(({ endpoints }) => endpoints);
      const enabled = all.filter(({ disabled }) => disabled === undefined).length;
      return { enabled, disabled: all.length - enabled };
    },
    isEmpty: (): boolean => byOwner.values().every(({ endpoints }) => endpoints.length === 0),
  };
}

export const isOfEndpoints = ({ stream }: RecordedEvent): boolean => stream.startsWith(endpointStreamPrefix);
