import { TollgateError } from '@tollgate/service-kit';
import type { EventStore, NewEvent, Position, RecordedEvent, Revision } from './event-store.ts';

/** Each lost try means that another writer of the same stream won, so this many only a stream that is fought over needs. */
export const decisionTriesMax = 20;

/** How the state of one kind of stream is made of its events. */
export interface Evolution<State, Event> {
  initial: State;
  /** Reads a stored event; throws where it is none of the events that this kind of stream has. */
  decode(recorded: RecordedEvent): Event;
  evolve(state: State, event: Event): State;
}

export interface LoadedState<State> {
  state: State;
  /** Of the last event that the state was made of. */
  revision: Revision | 'no-stream';
}

/** The result of a pure decision: events to append atomically (none: nothing to do), or a refusal. */
export type Decision<Event, Refusal> =
  { kind: 'events'; events: readonly Event[] } | { kind: 'refused'; refusal: Refusal };

export type DecisionOutcome<State, Event, Refusal> =
  /** The events are durable, and `state` is what they have led to. */
  | { kind: 'decided'; state: State; events: readonly Event[]; revision: Revision; position: Position }
  | { kind: 'unchanged'; state: State; revision: Revision | 'no-stream' }
  | { kind: 'refused'; state: State; refusal: Refusal };

export interface DecideAndAppend<State, Event, Refusal> extends Evolution<State, Event> {
  store: EventStore;
  stream: string;
  /** Pure: it is taken again on a newer state whenever another writer was faster. */
  decide(state: State): Decision<Event, Refusal>;
  /** Gives ids and metadata to the events of one try. Called once per try, so a repeated append has the same ids. */
  toNewEvents(events: readonly Event[]): readonly NewEvent[];
}

/** Other writers of the stream were faster every time. */
class StreamContended extends TollgateError {
  constructor(stream: string) {
    super('stream_contended', `Other writers of ${stream} were faster ${decisionTriesMax} times.`, {
      retryable: true,
    });
  }
}

/**
 * Reads a stream to its end and folds it. With `since`, only what was appended after it is read.
 *
 * @throws StoreUnavailable, and what `decode` and `evolve` throw
 */
export async function loadState<State, Event>(
  { store, stream, initial, decode, evolve }: Evolution<State, Event> & { store: EventStore; stream: string },
  since: LoadedState<State> = { state: initial, revision: 'no-stream' },
): Promise<LoadedState<State>> {
  let { state, revision } = since;
  const from = revision === 'no-stream' ? 0 : revision + 1;
  for await (const recorded of store.read(stream, { from })) {
    state = evolve(state, decode(recorded));
    revision = recorded.revision;
  }
  return { state, revision };
}

/**
 * Loads a stream, decides, and appends what was decided only if nobody else has appended since; otherwise it reads on
 * and decides again.
 *
 * @throws StoreUnavailable: the events may be durable or not; StreamContended after 20 lost tries
 */
export async function decideAndAppend<State, Event, Refusal>(
  options: DecideAndAppend<State, Event, Refusal>,
): Promise<DecisionOutcome<State, Event, Refusal>> {
  let loaded = await loadState(options);
  for (let tryNumber = 1; tryNumber <= decisionTriesMax; tryNumber += 1) {
    const outcome = await decideOnce(options, loaded);
    if (outcome !== 'conflict') return outcome;
    loaded = await loadState(options, loaded);
  }
  throw new StreamContended(options.stream);
}

async function decideOnce<State, Event, Refusal>(
  { store, stream, decide, evolve, toNewEvents }: DecideAndAppend<State, Event, Refusal>,
  { state, revision }: LoadedState<State>,
): Promise<DecisionOutcome<State, Event, Refusal> | 'conflict'> {
  const decision = decide(state);
  if (decision.kind === 'refused') return { kind: 'refused', state, refusal: decision.refusal };
  const { events } = decision;
  if (events.length === 0) return { kind: 'unchanged', state, revision };
  const answer = await store.append(stream, toNewEvents(events), revision);
  if (answer.kind === 'conflict') return 'conflict';
  const decided = events.reduce((folded, event) => evolve(folded, event), state);
  return { kind: 'decided', state: decided, events, revision: answer.revision, position: answer.position };
}
