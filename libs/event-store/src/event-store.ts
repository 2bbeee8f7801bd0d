/** The port: Tollgate's requirements of an event store. One contract suite runs against every adapter. */

/**
 * A place in the order of all events. Opaque; a later position sorts after an earlier one as text, so positions may be
 * compared with `<` and kept as they are in views, headers and files.
 */
export type Position = string & { readonly __brand: 'Position' };

/** Before the first event. */
export const beginning = '' as Position;

/** Number of an event in its stream, from 0. */
export type Revision = number;

/** The writer's assumption about the stream: its last revision, that it does not exist, or nothing (`any`). */
export type ExpectedRevision = Revision | 'no-stream' | 'any';

export interface NewEvent {
  /** UUID. The store recognizes a repeated append by it. */
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

/** The events are durable. A repeated append returns the revision and position of the first one. */
export interface Appended {
  kind: 'appended';
  /** Of the last event of the append. */
  revision: Revision;
  /** Of the last event of the append. */
  position: Position;
}

/** The stream is not as expected, nothing was written, and the conflicting events can be read. */
export interface Conflict {
  kind: 'conflict';
  actual: Revision | 'no-stream';
}

export interface ReadOptions {
  /** First revision to read; by default the first of the stream, or the last one when reading backwards. */
  from?: Revision;
  /** `forwards` by default. */
  direction?: 'forwards' | 'backwards';
  /** Maximum number of events. @default all */
  limit?: number;
}

export interface AppendOptions {
  /**
   * Only this many last events of the stream are needed. Earlier ones are deleted with the append, or a little later: at most
   * 16 more remain, or twice as many each time that a process has died while deleting them.
   */
  keepLast?: number | undefined;
}

export interface SubscribeOptions {
  /** Events after this position are delivered. */
  from: Position;
  /** Only events of streams with one of these prefixes. */
  prefixes: readonly string[];
  /** Ends the subscription. */
  signal: AbortSignal;
}

export interface EventStore {
  /**
   * Appends one to 1,000 events atomically; resolved means durable. Repeating an append with the same event ids and the same
   * concrete expected revision writes nothing and has the same answer. With `any` a repeat writes again, and there is no
   * conflict: use it only if that is harmless, and explain why.
   *
   * @throws StoreUnavailable (retryable) if its durability is unknown, or it conflicts with events that cannot be read; nothing
   * is half written
   */
  append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    options?: AppendOptions,
  ): Promise<Appended | Conflict>;

  /** The events of a stream in order; nothing for a stream that does not exist. */
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;

  /**
   * All events after a position and then new ones, each once and in order, with a `CaughtUp` each time the end is reached.
   * Survives failures of the store; ends only when the signal is aborted, without an error.
   *
   * Events hidden by `keepLast` and `truncate` may be among them, for as long as the store has not cleaned up, and in any order:
   * a consumer must not take the latest delivered event for the last one of its stream.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<RecordedEvent | CaughtUp>;

  /**
   * The position of the last event of the store, or a later one of an earlier event; `beginning` if there was none. Every
   * append answered before the call is at or before it.
   *
   * @throws StoreUnavailable
   */
  head(): Promise<Position>;

  /**
   * Deletes the events of a stream before that revision, but never the last one; reads show none of them. Revisions keep
   * counting, and a stream that does not exist stays so.
   */
  truncate(stream: string, before: Revision): Promise<void>;

  /** Waits for appends under way, ends all subscriptions and releases the files or connections. */
  close(): Promise<void>;
}
