/** Payments and payouts in the event store: load one, and carry out commands on it. */
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  beginning,
  decideAndAppend,
  loadState,
} from '@tollgate/event-store';
import { type Actor, type Decision, type EventMetadata, eventMetadataSchema } from '@tollgate/payment-domain';
import type { Clock, Ids } from '@tollgate/service-kit';

/** What set a command off; it is recorded with every event. */
export interface Cause {
  correlationId: string;
  causationId: string;
  traceparent?: string;
  actor: Actor;
}

/** A command has been carried out. Only who appended an announcement (`events`) may act on it. */
export interface Done<View, Event> {
  kind: 'done';
  view: View;
  events: readonly Event[];
}

export type Executed<View, Event, Refusal> =
  | Done<View, Event>
  | { kind: 'refused'; refusal: Refusal }
  /** It was to be carried out on one revision only, and there is another one by now. */
  | { kind: 'moved' };

/** An event with what a document says of it beyond its data. */
export interface Envelope<Event> {
  token: string;
  event: Event;
  /** Milliseconds since the Unix epoch. */
  recordedAt: number;
  revision: number;
  position: Position;
}

/** How one kind of thing is decided and folded. */
export interface Aggregate<View, Event, Command, Refusal> {
  stream(token: string): string;
  /** @throws for what no version of ours has written */
  decode(stored: { type: string; data: unknown }): Event;
  decide(view: View | undefined, command: Command): Decision<Event, Refusal>;
  evolve(view: View | undefined, envelope: Envelope<Event>): View;
}

export interface Repository<View, Event, Command, Refusal> {
  load(token: string): Promise<View | undefined>;
  /**
   * @param onlyAt the revision that the command was made for
   * @throws StoreUnavailable, StreamContended: what was decided may be durable or not; RangeError for a fact about
   * something that does not exist
   */
  execute(
    token: string,
    command: Command,
    cause: Cause,
    onlyAt?: number,
  ): Promise<Executed<View, Event, Refusal>>;
}

export function createRepository<
  View extends { revision: number; position: Position },
  Event extends { type: string; data: unknown },
  Command,
  Refusal,
>(
  { store, clock, ids }: { store: EventStore; clock: Clock; ids: Ids },
  aggregate: Aggregate<View, Event, Command, Refusal>,
): Repository<View, Event, Command, Refusal> {
  type State = View | undefined;
  type Refused = { kind: 'moved' } | { kind: 'refused'; refusal: Refusal };

  const evolutionOf = (token: string) => ({
    store,
    stream: aggregate.stream(token),
    initial: undefined as State,
    decode: (recorded: RecordedEvent): Envelope<Event> => ({
      token,
      event: aggregate.decode(recorded),
      recordedAt: eventMetadataSchema.parse(recorded.metadata).recordedAt,
      revision: recorded.revision,
      position: recorded.position,
    }),
    evolve: (view: State, envelope: Envelope<Event>): State => aggregate.evolve(view, envelope),
  });

  return {
    async load(token) {
      return (await loadState(evolutionOf(token))).state;
    },
    async execute(token, command, cause, onlyAt) {
      const recordedAt = clock.now();
      const metadata: EventMetadata = { schemaVersion: 1, ...cause, recordedAt };
      const outcome = await decideAndAppend<State, Envelope<Event>, Refused>({
        ...evolutionOf(token),
        decide(view) {
          if (onlyAt !== undefined && view?.revision !== onlyAt)
            return { kind: 'refused', refusal: { kind: 'moved' } };
          const decision = aggregate.decide(view, command);
          if (decision.kind === 'refused') return { kind: 'refused', refusal: decision };
          const next = (view?.revision ?? -1) + 1;
          // Where the store puts them is not known before they are there.
          const position = view?.position ?? beginning;
          const toEnvelope = (event: Event, index: number): Envelope<Event> => ({
            ...{ token, event, recordedAt, position },
            revision: next + index,
          });
          return { kind: 'events', events: decision.events.map(toEnvelope) };
        },
        // As they will be read again: better nothing is written than what cannot be read any more.
        toNewEvents: (envelopes) =>
          envelopes.map(({ event }) => ({ id: ids.uuid(), ...aggregate.decode(event), metadata })),
      });
      if (outcome.kind === 'refused') return outcome.refusal;
      if (outcome.state === undefined) throw new RangeError(`there is nothing in ${aggregate.stream(token)}`);
      if (outcome.kind === 'unchanged') return { kind: 'done', view: outcome.state, events: [] };
      const view = { ...outcome.state, position: outcome.position };
      return { kind: 'done', view, events: outcome.events.map(({ event }) => event) };
    },
  };
}

/** What a fact has led to: a fact is never refused. @throws Error where it was */
export function requireDone<View, Event>(
  executed: Executed<View, Event, { code: string }>,
): Done<View, Event> {
  if (executed.kind === 'done') return executed;
  throw new Error(`a fact was not recorded: ${executed.kind === 'moved' ? 'moved' : executed.refusal.code}`);
}
