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
export interface Done<Document, Event> {
  kind: 'done';
  document: Document;
  events: readonly Event[];
}

export type Executed<Document, Event, Refusal> =
  | Done<Document, Event>
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
export interface Aggregate<Document, Event, Command, Refusal> {
  stream(token: string): string;
  /** @throws for what no version of ours has written */
  decode(stored: { type: string; data: unknown }): Event;
  decide(document: Document | undefined, command: Command): Decision<Event, Refusal>;
  evolve(document: Document | undefined, envelope: Envelope<Event>): Document;
}

export interface Repository<Document, Event, Command, Refusal> {
  load(token: string): Promise<Document | undefined>;
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
  ): Promise<Executed<Document, Event, Refusal>>;
}

export function createRepository<
  Document extends { revision: number; position: Position },
  Event extends { type: string; data: unknown },
  Command,
  Refusal,
>(
  { store, clock, ids }: { store: EventStore; clock: Clock; ids: Ids },
  aggregate: Aggregate<Document, Event, Command, Refusal>,
): Repository<Document, Event, Command, Refusal> {
  type State = Document | undefined;
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
    evolve: (document: State, envelope: Envelope<Event>): State => aggregate.evolve(document, envelope),
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
        decide(document) {
          if (onlyAt !== undefined && document?.revision !== onlyAt)
            return { kind: 'refused', refusal: { kind: 'moved' } };
          const decision = aggregate.decide(document, command);
          if (decision.kind === 'refused') return { kind: 'refused', refusal: decision };
          const next = (document?.revision ?? -1) + 1;
          // Where the store puts them is not known before they are there.
          const position = document?.position ?? beginning;
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
      if (outcome.kind === 'unchanged') return { kind: 'done', document: outcome.state, events: [] };
      const document = { ...outcome.state, position: outcome.position };
      return { kind: 'done', document, events: outcome.events.map(({ event }) => event) };
    },
  };
}

/** What a fact has led to: a fact is never refused. @throws Error where it was */
export function requireDone<Document, Event>(
  executed: Executed<Document, Event, { code: string }>,
): Done<Document, Event> {
  if (executed.kind === 'done') return executed;
  throw new Error(`a fact was not recorded: ${executed.kind === 'moved' ? 'moved' : executed.refusal.code}`);
}
