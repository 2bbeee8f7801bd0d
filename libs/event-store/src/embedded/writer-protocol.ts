import type { MessagePort } from 'node:worker_threads';
import type { SerializedEvent } from '../append-arguments.ts';
import type { Conflict, ExpectedRevision, Revision } from '../event-store.ts';

/** Messages between the calling thread and the writer thread. */

export interface AppendOperation {
  kind: 'append';
  stream: string;
  events: readonly SerializedEvent[];
  expected: ExpectedRevision;
  /** Milliseconds since the Unix epoch. */
  recordedAt: number;
  /** Events of the stream that are kept, from this append on; absent: as before. */
  keepLast?: number | undefined;
}

export interface TruncateOperation {
  kind: 'truncate';
  stream: string;
  before: Revision;
}

export type Operation = AppendOperation | TruncateOperation;

/** `rowNumber` is that of the last event of the append. */
export type OperationResult =
  { kind: 'appended'; revision: Revision; rowNumber: number } | Conflict | { kind: 'truncated' };

export interface WriterOptions {
  file: string;
  /** For tests: the file may grow to this many pages of 4 KiB, then it is as if the disk were full. */
  pageCountMax?: number | undefined;
}

/** Each client has at most one batch under way. */
export type ToWriter =
  | { kind: 'commit'; operations: readonly Operation[] }
  /** Another client, which comes after the one that sends this. */
  | { kind: 'connect'; port: MessagePort }
  | { kind: 'stop' };

export type FromWriter =
  | { kind: 'started' }
  | { kind: 'start-refused'; code: string; message: string }
  | { kind: 'committed'; results: readonly OperationResult[] }
  /** The batches of other clients are committed. */
  | { kind: 'others-committed' }
  /** Nothing of the batch was written. `sqliteCode` is SQLite's extended result code, if it has one. */
  | { kind: 'failed'; sqliteCode: number | undefined };
