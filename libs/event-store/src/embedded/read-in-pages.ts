import { setImmediate as nextTurn } from 'node:timers/promises';
import { requireInteger, requireStreamName } from '../append-arguments.ts';
import type { ReadOptions, RecordedEvent } from '../event-store.ts';
import type { Reader } from './reader.ts';

interface ReadRequest extends ReadOptions {
  stream: string;
  requireOpen: () => void;
}

/** @throws StoreUnavailable when the store is closed in the middle. */
export async function* readInPages(
  reader: Reader,
  { stream, direction = 'forwards', from, limit = Infinity, requireOpen }: ReadRequest,
): AsyncGenerator<RecordedEvent, void, void> {
  requireStreamName(stream);
  if (from !== undefined) requireInteger('The revision to read from', from, 0);
  if (limit !== Infinity) requireInteger('The number of events to read', limit, 0);
  const step = direction === 'forwards' ? 1 : -1;
  let next = from ?? (direction === 'forwards' ? 0 : Number.MAX_SAFE_INTEGER);
  let remaining = limit;
  while (remaining > 0) {
    requireOpen();
    const { events, isEnd } = reader.page({ stream, from: next, direction, limit: remaining });
    yield* events;
    const last = events.at(-1);
    if (isEnd || last === undefined) return;
    remaining -= events.length;
    next = last.revision + step;
    await nextTurn();
  }
}
