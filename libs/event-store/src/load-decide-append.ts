import { TollgateError } from '@tollgate/service-kit';
import { LRUCache } from 'lru-cache';
import type { Appended, EventStore, NewEvent, Position, RecordedEvent, Revision } from './event-store.ts';

/** Each lost try means that another writer of the same stream won, so this many only a stream that is fought over needs. */
export const decisionTriesMax = 20;

/** Values by name; the one that was used longest ago is forgotten first. */
export type RecentlyUsed<Value extends object> = LRUCache<string, Value>;

/** At most `max` of them. Each counts as one of a total size: with `max` alone the memory for all is allocated at once. */
export const createRecentlyUsed = <Value extends object>(max: number): RecentlyUsed<Value> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 });

/** How the state of one kind of stream is folded from its events. */
export interface Evolution<State, Event> {
  initial: State;
  /** Decodes a stored event; throws if this kind of stream has no such event. */
  decode(recorded: RecordedEvent): Event;
  evolve(state: State, event: Event): State;
}

export interface LoadedState<State> {
  state: State;
  /** Of the last event in the state. */
  revision: Revision | 'no-stream';
}

/** The result of a pure decision: events to append atomically (none: nothing to do), or a refusal. */
export type Decision<Event, Refusal> =
  { kind: 'events'; events: readonly Event[] } | { kind: 'refused'; refusal: Refusal };

export type DecisionOutcome<State, Event, Refusal> =
  /** The events are durable, and `state` includes them. */
  | { kind: 'decided'; state: State; events: readonly Event[]; revision: Revision; position: Position }
  | { kind: 'unchanged'; state: State; revision: Revision | 'no-stream' }
  | { kind: 'refused'; state: State; refusal: Refusal };

/**
 * The states of streams as this process has left them. Others may have appended since, so nothing follows from one of
 * them alone: an append with its revision proves that it is the latest, or a read does.
 */
export type RecentStates<State> = RecentlyUsed<LoadedState<State>>;

/** More of them cost memory, and saved no time of the processor (decision 24). */
const recentStatesMax = 1_000;

export const createRecentStates = <State>(max = recentStatesMax): RecentStates<State> =>
  createRecentlyUsed(max);

interface StreamState<State, Event> extends Evolution<State, Event> {
  store: Pick<EventStore, 'read'>;
  stream: string;
  /** The cached states of this process; absent: none are cached. */
  recent?: RecentStates<State>;
}

export interface DecideAndAppend<State, Event, Refusal> extends StreamState<State, Event> {
  store: EventStore;
  /** The stream hardly exists: the append finds out, and nothing is read before it. */
  isNew?: boolean;
  /** The state with the position of its last event. */
  placed?(state: State, appended: Appended): State;
  /** Pure: it is called again on a newer state whenever another writer was faster. */
  decide(state: State): Decision<Event, Refusal>;
  /**
   * Adds ids and metadata to the events of one try. Called once per try, so a repeated append has the same ids.
   *
   * @param after the state of the decision: the first event gets the next revision
   */
  toNewEvents(events: readonly Event[], after: LoadedState<State>): readonly NewEvent[];
}

/** Other writers of the stream were faster every time. */
class StreamContended extends TollgateError {
  constructor(stream: string) {
    super(
      'stream_contended',
      `Concurrent writers of ${stream} prevented this append ${decisionTriesMax} times.`,
      { retryable: true },
    );
  }
}

/**
 * Reads a stream to its end and folds it, starting from `since` or from the cache.
 *
 * @throws StoreUnavailable, and errors of `decode` and `evolve`
 */
export async function loadState<State, Event>(
  options: StreamState<State, Event>,
  since: LoadedState<State> = remembered(options) ?? nothingIn(options),
): Promise<LoadedState<State>> {
  const { store, stream, decode, evolve } = options;
  let { state, revision } = since;
  const from = revision === 'no-stream' ? 0 : revision + 1;
  for await (const recorded of store.read(stream, { from })) {
    state = evolve(state, decode(recorded));
    revision = recorded.revision;
  }
  return remember(options, { state, revision });
}

/**
 * Decides on the state of a stream, and appends the events only if no other writer has appended since; otherwise it reads on
 * and decides again. It begins with the cached state; a refusal or a no-op is answered only after a read.
 *
 * @throws StoreUnavailable: the events may be durable or not; StreamContended after 20 lost tries
 */
export async function decideAndAppend<State, Event, Refusal>(
  options: DecideAndAppend<State, Event, Refusal>,
): Promise<DecisionOutcome<State, Event, Refusal>> {
  const assumed = remembered(options) ?? (options.isNew === true ? nothingIn(options) : undefined);
  let loaded = assumed ?? (await loadState(options));
  let isRead = assumed === undefined;
  for (let tryNumber = 1; tryNumber <= decisionTriesMax; tryNumber += 1) {
    const outcome = await decideOnce(options, loaded);
    if (outcome !== 'conflict' && (isRead || outcome.kind === 'decided')) return outcome;
    const { revision } = loaded;
    loaded = await loadState(options, loaded);
    // A stream shorter than the cached state: an older store was put in its place.
    const isUnexplained = outcome === 'conflict' && loaded.revision === revision;
    if (isUnexplained) {
      options.recent?.delete(options.stream);
      loaded = await loadState(options, nothingIn(options));
    }
    isRead = true;
  }
  throw new StreamContended(options.stream);
}

async function decideOnce<State, Event, Refusal>(
  options: DecideAndAppend<State, Event, Refusal>,
  { state, revision }: LoadedState<State>,
): Promise<DecisionOutcome<State, Event, Refusal> | 'conflict'> {
  const { store, stream, decide, evolve, toNewEvents, placed = (decided: State) => decided } = options;
  const decision = decide(state);
  if (decision.kind === 'refused') return { kind: 'refused', state, refusal: decision.refusal };
  const { events } = decision;
  if (events.length === 0) return { kind: 'unchanged', state, revision };
  const answer = await store.append(stream, toNewEvents(events, { state, revision }), revision);
  if (answer.kind === 'conflict') return 'conflict';
  const folded = events.reduce((before, event) => evolve(before, event), state);
  const decided = { state: placed(folded, answer), revision: answer.revision };
  remember(options, decided);
  return { kind: 'decided', ...decided, events, position: answer.position };
}

const nothingIn = <State>({ initial }: { initial: State }): LoadedState<State> => ({
  state: initial,
  revision: 'no-stream',
});

const remembered = <State>({ recent, stream }: { recent?: RecentStates<State>; stream: string }) =>
  recent?.get(stream);

/** Of two concurrent results, the later state stays. */
function remember<State>(
  { recent, stream }: { recent?: RecentStates<State>; stream: string },
  loaded: LoadedState<State>,
): LoadedState<State> {
  const known = recent?.get(stream)?.revision ?? 'no-stream';
  const isNewer = loaded.revision !== 'no-stream' && (known === 'no-stream' || loaded.revision > known);
  if (isNewer) recent?.set(stream, loaded);
  return loaded;
}
