import { randomUUID } from 'node:crypto';
import type { Appended, Conflict, EventStore, NewEvent, ReadOptions, RecordedEvent } from '../event-store.ts';

/** A category, the part of a stream's name before the dash, that no other test uses. */
export const freshCategory = () => `test${randomUUID().replaceAll('-', '')}`;

export const freshStream = () => `${freshCategory()}-1`;

export const givenEvent = (data: unknown = {}): NewEvent => ({
  id: randomUUID(),
  type: 'Tested',
  data,
  metadata: { correlationId: 'c-1' },
});

/** Events whose data is 0, 1, 2 … */
export const givenEvents = (count: number) => Array.from({ length: count }, (_, index) => givenEvent(index));

export async function readAll(
  store: EventStore,
  stream: string,
  options?: ReadOptions,
): Promise<RecordedEvent[]> {
  return Array.fromAsync(store.read(stream, options));
}

export async function readData(store: EventStore, stream: string, options?: ReadOptions): Promise<unknown[]> {
  return (await readAll(store, stream, options)).map((event) => event.data);
}

/** @throws Error for an unexpected conflict */
export function appended(answer: Appended | Conflict): Appended {
  if (answer.kind !== 'appended') throw new Error(`conflict, the stream is at ${answer.actual}`);
  return answer;
}
