/** The fate of writes that a leader accepted without a quorum: visible to all, or truncated. */
export type Fate = 'shown' | 'lost';

/** What may happen to an append. */
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
   * A leader without a quorum takes it, confirms it to nobody and hides it from every read, with all that comes to the
   * stream behind it, until it is known whether a quorum has it. It counts for conflicts and repeats at once.
   */
  | { kind: 'hidden'; until: Promise<Fate> }
  /** The server takes smaller appends only. */
  | { kind: 'too-large' }
  /** The server, a KurrentDB, takes smaller events only. */
  | { kind: 'event-too-large' };

export interface ReceivedAppend {
  stream: string;
  eventIds: readonly string[];
  /** What the writer expects, as it came: a revision, `no_stream`, `any`. */
  expected: string;
}

/** A call that has come. `stream` of a read or a subscription of the whole log is `$all`. */
export interface ReceivedCall {
  kind: 'append' | 'read' | 'subscribe';
  stream: string;
}

/** What a test makes the server do wrong. */
export interface ServerFaults {
  /** `not-ready`: it starts; `no-leader`: its cluster elects one. Either way every call is refused. */
  state: 'leading' | 'not-ready' | 'no-leader';
  /** Appends and deletions wait for this, as where a disk stalls. */
  writersStalled: Promise<void> | undefined;
  /** Each call for events is cut off after so many, without a status; undefined: none is. */
  callsEndAfter: number | undefined;
  /** A live subscription that is so many events behind is dropped, as 22.10 does; infinite: none is, as of 24.6. */
  behindMax: number;
  /** Asked for each append; undefined: it is carried out. */
  onAppend: (append: ReceivedAppend) => AppendFault | undefined;
  /** Reads give nothing, for as long as this is true. */
  readsAreSilent: boolean;
  /** Subscriptions stay open and give nothing, for as long as this is true. */
  subscriptionsAreSilent: boolean;
  /** How long each subscription takes before it gives something, milliseconds. */
  subscriptionsTakeMs: number;
}

export const noFaults = (): ServerFaults => ({
  state: 'leading',
  writersStalled: undefined,
  callsEndAfter: undefined,
  behindMax: 32,
  onAppend: () => undefined,
  readsAreSilent: false,
  subscriptionsAreSilent: false,
  subscriptionsTakeMs: 0,
});
