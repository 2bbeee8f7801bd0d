import type { EventStoreDBClient } from '@eventstore/db-client';
import { systemClock } from '@tollgate/service-kit';
import { type Position, type ReadOptions, type RecordedEvent, beginning } from '../event-store.ts';
import { fromPosition, toPosition } from './position.ts';
import { type ClientEvent, toRecordedEvent } from './recorded-event.ts';
import { fromClientError, isStreamNotFound } from './store-failure.ts';
import { within } from './within.ts';

/** A read that gives nothing for so long, milliseconds, has failed. */
export const readSilenceMs = 5_000;

/** All of it is read from the leader: another node may not have yet what was just appended. */
const fromLeader = { requiresLeader: true, resolveLinkTos: false } as const;

interface ClientRead {
  [Symbol.asyncIterator](): AsyncIterator<{ event?: ClientEvent }>;
  on(event: 'error', listener: () => void): unknown;
  cancel(): Promise<void>;
}

/** @throws StoreUnavailable */
export async function* readStream(
  client: EventStoreDBClient,
  stream: string,
  { from, direction = 'forwards', limit = Infinity }: ReadOptions,
): AsyncGenerator<RecordedEvent, void, void> {
  if (limit === 0) return;
  const whence = from === undefined ? (direction === 'forwards' ? 'start' : 'end') : BigInt(from);
  const counted = limit === Infinity ? {} : { maxCount: limit };
  const read = client.readStream(stream, { ...fromLeader, ...counted, direction, fromRevision: whence });
  for await (const event of eventsOf(read)) yield toRecordedEvent(event);
}

/** Where the last event of all is, system events included. @throws StoreUnavailable */
export async function readHead(client: EventStoreDBClient): Promise<Position> {
  const read = client.readAll({ ...fromLeader, direction: 'backwards', fromPosition: 'end', maxCount: 1 });
  for await (const event of eventsOf(read)) return toPosition(event.position);
  return beginning;
}

/** The next `limit` events of all streams after a position, in order, system events included. @throws StoreUnavailable */
export async function* readAllAfter(
  client: EventStoreDBClient,
  after: Position,
  limit: number,
): AsyncGenerator<{ stream: string; position: Position }, void, void> {
  // It begins with the event at the position, where the port wants those after it.
  const read = client.readAll({ ...fromLeader, fromPosition: fromPosition(after), maxCount: limit + 1 });
  for await (const event of eventsOf(read)) {
    const position = toPosition(event.position);
    if (position > after) yield { stream: event.streamId, position };
  }
}

/** Gives nothing for a stream that does not exist. Reads have no deadline in the client, so silence ends them here. */
async function* eventsOf(read: ClientRead): AsyncGenerator<ClientEvent, void, void> {
  // What goes wrong after we have stopped listening would end the process.
  read.on('error', () => undefined);
  const iterator = read[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await within(systemClock, readSilenceMs, iterator.next());
      isOver = next.done === true;
      if (next.done === true) return;
      if (next.value.event !== undefined) yield next.value.event;
    }
  } catch (error) {
    isOver = true;
    if (!isStreamNotFound(error)) throw fromClientError(error);
  } finally {
    if (!isOver) await iterator.return?.();
    read.cancel().catch(() => undefined);
  }
}
