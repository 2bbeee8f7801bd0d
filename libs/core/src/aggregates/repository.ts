/** Payments, payouts and disputes in the event store: loads one, and applies commands and observations to it. */
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  beginning,
  createRecentStates,
  decideAndAppend,
  loadState,
} from '@tollgate/event-store';
import { type Actor, type EventMetadata, eventMetadataSchema } from '../domain/event-metadata.ts';
import { type Aggregate, type Happened, nextRevision } from '../domain/aggregate.ts';
import { type Decision } from '../domain/decision.ts';
import type { Clock, Ids } from '@tollgate/service-kit';

/** The cause of a command; recorded with every event. */
export interface Cause {
  correlationId: string;
  causationId: string;
  traceparent?: string;
  actor: Actor;
}

/** The input was applied. Only the caller that appended an announcement (`events`) may act on it. */
export interface Done<Subject, Event> {
  kind: 'done';
  aggregate: Subject;
  events: readonly Event[];
}

export type Executed<Subject, Event, Refusal> =
  | Done<Subject, Event>
  | { kind: 'refused'; refusal: Refusal }
  /** The input was for one revision only, and a later one exists. */
  | { kind: 'moved' };

/** How one kind of aggregate decides and folds. */
export interface AggregateKind<Subject, Event, Input, Refusal> {
  stream(token: string): string;
  /** @throws if none of our versions can have written it */
  decode(stored: { type: string; data: unknown; metadata?: unknown }): Event;
  /** The schema version that a reader of it needs. */
  versionOf(event: Event): number;
  decide(aggregate: Subject | undefined, input: Input): Decision<Event, Refusal>;
  evolve(aggregate: Subject | undefined, happened: Happened<Event, Position>): Subject;
}

interface ExecuteOptions {
  /** The revision that the input was made for; `nothing` if there was none. */
  onlyAt?: number | 'nothing' | undefined;
  /** The token is most likely new: skip the read and let the append detect a replay. */
  isNew?: boolean;
}

export interface Repository<Subject, Event, Input, Refusal> {
  /** The current state. */
  load(token: string): Promise<Subject | undefined>;
  /**
   * @throws StoreUnavailable, StreamContended: the decision may or may not be durable; RangeError for an observation of a
   * subject that does not exist
   */
  execute(
    token: string,
    input: Input,
    cause: Cause,
    options?: ExecuteOptions,
  ): Promise<Executed<Subject, Event, Refusal>>;
}

export function createRepository<
  Subject extends Aggregate<Position>,
  Event extends { type: string; data: unknown },
  Input,
  Refusal,
>(
  { store, clock, ids }: { store: EventStore; clock: Clock; ids: Ids },
  kind: AggregateKind<Subject, Event, Input, Refusal>,
): Repository<Subject, Event, Input, Refusal> {
  type State = Subject | undefined;
  type Refused = { kind: 'moved' } | { kind: 'refused'; refusal: Refusal };

  const recent = createRecentStates<State>();

  const evolutionOf = (token: string) => ({
    store,
    recent,
    stream: kind.stream(token),
    initial: undefined as State,
    decode: (recorded: RecordedEvent): Happened<Event, Position> => ({
      token,
      event: kind.decode(recorded),
      recordedAt: eventMetadataSchema.parse(recorded.metadata).recordedAt,
      revision: recorded.revision,
      position: recorded.position,
    }),
    evolve: (state: State, happened: Happened<Event, Position>): State => kind.evolve(state, happened),
  });

  /** Do not write what cannot be read back; the cache holds what a read returns. */
  const asRead = ({ type, data }: Event): Event =>
    kind.decode({ type, data: JSON.parse(JSON.stringify(data)) as unknown });

  return {
    async load(token) {
      return (await loadState(evolutionOf(token))).state;
    },
    async execute(token, input, cause, { onlyAt, isNew = false } = {}) {
      const recordedAt = clock.now();
      const outcome = await decideAndAppend<State, Happened<Event, Position>, Refused>({
        ...evolutionOf(token),
        isNew,
        decide(state) {
          if (onlyAt !== undefined && (state?.revision ?? 'nothing') !== onlyAt)
            return { kind: 'refused', refusal: { kind: 'moved' } };
          const decision = kind.decide(state, input);
          if (decision.kind === 'refused') return { kind: 'refused', refusal: decision };
          const first = nextRevision(state);
          // The position in the store is not known before the append.
          const position = state?.position ?? beginning;
          const toHappened = (event: Event, index: number): Happened<Event, Position> => ({
            token,
            event: asRead(event),
            recordedAt,
            position,
            revision: first + index,
          });
          return { kind: 'events', events: decision.events.map(toHappened) };
        },
        toNewEvents: (all) =>
          all.map(({ event }, index) => {
            const metadata: EventMetadata = {
              schemaVersion: kind.versionOf(event),
              ...cause,
              recordedAt,
              ...(index < all.length - 1 ? { continues: true } : {}),
            };
            return { id: ids.uuid(), ...event, metadata };
          }),
        placed: (state, { position }) => state && { ...state, position },
      });
      if (outcome.kind === 'refused') return outcome.refusal;
      if (outcome.state === undefined) throw new RangeError(`there is nothing in ${kind.stream(token)}`);
      if (outcome.kind === 'unchanged') return { kind: 'done', aggregate: outcome.state, events: [] };
      return { kind: 'done', aggregate: outcome.state, events: outcome.events.map(({ event }) => event) };
    },
  };
}

/** The result of an observation, which is never refused. @throws Error if it was */
export function requireDone<Subject, Event>(
  executed: Executed<Subject, Event, { code: string }>,
): Done<Subject, Event> {
  if (executed.kind === 'done') return executed;
  const reason = executed.kind === 'moved' ? 'moved' : executed.refusal.code;
  throw new Error(`an observation was not recorded: ${reason}`);
}
