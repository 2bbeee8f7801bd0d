/** The port: what Tollgate needs of an event store. One contract suite runs against every adapter. */

/**
 * A place in the order of all events. Opaque; a later position sorts after an earlier one as text, so positions may be
 * compared with `<` and kept as they are in views, headers and files.
 */
export type Position = string & { readonly __brand: 'Position' };

/** Before the first event. */
export const beginning = '' as Position;

/** Number of an event in its stream, from 0. */
export type Revision = number;

/** What the writer believes of the stream: its last revision, that it does not exist, or nothing (`any`). */
export type ExpectedRevision = Revision | 'no-stream' | 'any';

export interface NewEvent {
  /** UUID. The store recognises a repeated append by it. */
  id: string;
  type: string;
  /** A JSON value. */
  data: unknown;
  /** A JSON value. */
  metadata: unknown;
}

export interface RecordedEvent extends NewEvent {
  kind: 'event';
  stream: string;
  revision: Revision;
  position: Position;
  /** Wall-clock time of the store when it recorded the event, milliseconds since the Unix epoch. */
  recordedAt: number;
}

/** A subscription has delivered everything that was recorded up to `position`. */
export interface CaughtUp {
  kind: 'caught-up';
  position: Position;
}

/** The events are durable. A repeated append gives the revision and position of the first one. */
export interface Appended {
  kind: 'appended';
  /** Of the last event of the append. */
  revision: Revision;
  /** Of the last event of the append. */
  position: Position;
}

/** The stream is not as expected, nothing was written, and what is there instead can be read. */
export interface Conflict {
  kind: 'conflict';
  actual: Revision | 'no-stream';
}

export interface ReadOptions {
  /** First revision to read; by default the first of the stream, or the last one when reading backwards. */
  from?: Revision;
  /** `forwards` by default. */
  direction?: 'forwards' | 'backwards';
  /** Number of events at most; all by default. */
  limit?: number;
}

export interface AppendOptions {
  /**
   * Only so many last events of the stream are needed. Those before them go with the append, or a little later: at most
   * 16 more are there, or twice as many each time that a process has died while it let them go.
   */
  keepLast?: number | undefined;
}

export interface SubscribeOptions {
  /** Events after this position are delivered. */
  from: Position;
  /** Only events of streams whose name starts with one of these. */
  prefixes: readonly string[];
  /** Ends the subscription. */
  signal: AbortSignal;
}

export interface EventStore {
  /**
   * Appends one to 1,000 events atomically; resolved means durable. Repeating an append with the same event ids and the
   * same concrete expected revision writes nothing and answers as the first time. With `any` a repeat writes again, and
   * there is no conflict: use it only if that is harmless, and say why.
   *
   * @throws StoreUnavailable (retryable) when its durability is unknown, nothing is half written, as also if it is in
   * conflict with events that cannot be read; `stream_removed` (not retryable) for a stream that was removed
   */
  append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    options?: AppendOptions,
  ): Promise<Appended | Conflict>;

  /** The events of a stream in order; nothing for a stream that does not exist, or was removed. */
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;

  /**
   * All events after a position and then those to come, each once and in order, with a `CaughtUp` each time the end is
   * reached. Survives failures of the store; ends only when the signal is aborted, without an error.
   *
   * What `keepLast` and `remove` have hidden from reads may be among them, for as long as the store has not cleaned up, and
   * in whatever order it does: a consumer cannot take the event that came last for the last one of its stream.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<RecordedEvent | CaughtUp>;

  /**
   * The position of the last event of the store, or a later one at which an event of it stood; `beginning` where there was
   * none. Every append that was answered before the call is at it or before.
   *
   * @throws StoreUnavailable
   */
  head(): Promise<Position>;

  /**
   * Keeps only the last `count` events of a stream, now and for later appends; reads show no others. Revisions keep
   * counting. For the many streams of which hardly any grows long, `append` with `keepLast` costs less.
   */
  keepLast(stream: string, count: number): Promise<void>;

  /**
   * Lets go of the events of a stream before that revision, but never of the last one; reads show none of them. Revisions
   * keep counting, and a stream that does not exist stays so.
   */
  truncate(stream: string, before: Revision): Promise<void>;

  /**
   * Removes all events of a stream permanently; a removed one may be removed again. Its name cannot be used again: appends and
   * `keepLast` are refused with `stream_removed`, so that a process that was asleep writes nothing there when it wakes up.
   *
   * @param options `erase`: also out of the free space of its files, as far as the store can do that at once. EventStoreDB
   * does it with its next scavenge.
   * @throws StoreUnavailable (retryable) when the outcome is unknown: repeat it
   */
  remove(stream: string, options?: { erase?: boolean }): Promise<void>;

  /** Waits for appends under way, ends all subscriptions and releases the files or connections. */
  close(): Promise<void>;
}
