/** The fate of writes that a leader accepted without a quorum: visible to all, or truncated. */
export type Fate = 'shown' | 'lost';

/** The possible fates of an append. */
export type AppendFault =
  /** Nothing is written, nothing is answered. */
  | { kind: 'silent' }
  /** It is written, and the answer is lost. */
  | { kind: 'answer-lost' }
  /** It is written, and the connection is reset instead of an answer. */
  | { kind: 'reset' }
  /** It is written, and answered when `until` resolves. */
  | { kind: 'late'; until: Promise<void> }
  /** This node is not the leader; `address` is. */
  | { kind: 'not-leader'; address: { host: string; port: number } }
  /** The event is written, and the answer has no position, as for events that were trimmed. */
  | { kind: 'no-position' }
  /** Nothing is written: the server is not ready, as when it starts or elects a leader. */
  | { kind: 'not-ready' }
  /** Nothing is written: the server has events of others up to this revision, which it does not show yet. */
  | { kind: 'conflict'; actual: number }
  /**
   * A leader without a quorum accepts it, confirms it to no client and hides it from every read, with all later events of the
   * stream, until it is known whether a quorum has it. It counts for conflicts and repeats at once.
   */
  | { kind: 'hidden'; until: Promise<Fate> }
  /** The server's limit for appends is smaller. */
  | { kind: 'too-large' }
  /** The server, a KurrentDB, has a smaller limit for events. */
  | { kind: 'event-too-large' };

export interface ReceivedAppend {
  stream: string;
  eventIds: readonly string[];
  /** The writer's expectation, as received: a revision, `no_stream`, `any`. */
  expected: string;
}

/** A received call. `stream` of a read or a subscription of the whole log is `$all`. */
export interface ReceivedCall {
  kind: 'append' | 'read' | 'subscribe';
  stream: string;
}

/** Faults that a test injects into the server. */
export interface ServerFaults {
  /** `not-ready`: it starts; `no-leader`: its cluster elects one. Either way every call is refused. */
  state: 'leading' | 'not-ready' | 'no-leader';
  /** Appends and deletions wait for this, as on a stalled disk. */
  writersStalled: Promise<void> | undefined;
  /** Each call for events is cut off after this many, without a status; undefined: never. */
  callsEndAfter: number | undefined;
  /** Called for each append; undefined: it is executed. */
  onAppend: (append: ReceivedAppend) => AppendFault | undefined;
  /** Reads return nothing, for as long as this is true. */
  readsAreSilent: boolean;
  /** Subscriptions stay open and deliver nothing, for as long as this is true. */
  subscriptionsAreSilent: boolean;
  /** Delay before each subscription delivers something, milliseconds. */
  subscriptionsTakeMs: number;
}

export const noFaults = (): ServerFaults => ({
  state: 'leading',
  writersStalled: undefined,
  callsEndAfter: undefined,
  onAppend: () => undefined,
  readsAreSilent: false,
  subscriptionsAreSilent: false,
  subscriptionsTakeMs: 0,
});
