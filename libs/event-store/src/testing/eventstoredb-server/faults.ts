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
  /** The server takes smaller appends only. */
  | { kind: 'too-large' };

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
  onAppend: () => undefined,
  readsAreSilent: false,
  subscriptionsAreSilent: false,
  subscriptionsTakeMs: 0,
});
