import { StoreUnavailable } from '../errors.ts';
import type { Operation, OperationResult } from './writer-protocol.ts';

export const batchOperationsMax = 512;
export const batchBytesMax = 32 * 1_048_576;
export const waitingOperationsMax = 50_000;
const waitingBytesMax = 128 * 1_048_576;

/** An operation whose caller waits for the answer. */
export interface Waiting {
  operation: Operation;
  bytes: number;
  resolve(result: OperationResult): void;
  reject(error: StoreUnavailable): void;
}

/** Operations that wait for the next commits, in the order in which they came. */
export interface Backlog {
  /** @throws StoreUnavailable when so much waits that more would only eat memory. */
  push(each: Waiting): void;
  /** Takes those that go into the next commit; none only when none waits. */
  takeBatch(): Waiting[];
  takeAll(): Waiting[];
}

export function createBacklog(): Backlog {
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  const take = (length: number) => {
    const taken = waiting.slice(0, length);
    waiting = waiting.slice(length);
    waitingBytes -= taken.reduce((sum, each) => sum + each.bytes, 0);
    return taken;
  };
  return {
    push: (each) => {
      if (waiting.length >= waitingOperationsMax || waitingBytes + each.bytes > waitingBytesMax) {
        throw new StoreUnavailable('store_overloaded', 'Too many appends wait for the disk.');
      }
      waiting.push(each);
      waitingBytes += each.bytes;
    },
    takeBatch: () => take(batchLength(waiting)),
    takeAll: () => take(waiting.length),
  };
}

function batchLength(waiting: readonly Waiting[]): number {
  let length = 0;
  let bytes = 0;
  for (const each of waiting.slice(0, batchOperationsMax)) {
    bytes += each.bytes;
    if (length > 0 && bytes > batchBytesMax) break;
    length += 1;
  }
  return length;
}
