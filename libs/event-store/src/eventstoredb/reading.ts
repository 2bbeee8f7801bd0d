import type { EventStoreDBClient } from '@eventstore/db-client';
import { systemClock } from '@tollgate/service-kit';
import { type Position, type ReadOptions, type RecordedEvent, beginning } from '../event-store.ts';
import { fromPosition, toPosition } from './position.ts';
import { type ClientEvent, isTombstone, toRecordedEvent } from './recorded-event.ts';
import { fromClientError, isWithoutEvents } from './store-failure.ts';
import { storeInTime } from '../errors.ts';

/** Everything is read from the leader: another node may not have the latest appends yet. */
const fromLeader = { requiresLeader: true, resolveLinkTos: false } as const;

/** All of them throw StoreUnavailable, including after a silence. */
export type Reads = ReturnType<typeof createReads>;

interface Place {
  stream: string;
  position: Position;
  /** The last event of a stream that an administrator has deleted; it is not delivered. */
  isTombstone: boolean;
}

/** @param silenceMs maximum silence of a read, after which it has failed; the client has no deadline for reads */
export function createReads(client: EventStoreDBClient, silenceMs: number) {
  async function* stream(name: string, options: ReadOptions): AsyncGenerator<RecordedEvent, void, void> {
    const { from, direction = 'forwards', limit = Infinity } = options;
    if (limit === 0) return;
    const whence = from === undefined ? (direction === 'forwards' ? 'start' : 'end') : BigInt(from);
    const counted = limit === Infinity ? {} : { maxCount: limit };
    const read = client.readStream(name, { ...fromLeader, ...counted, direction, fromRevision: whence });
    for await (const event of eventsOf(read, silenceMs, limit)) yield toRecordedEvent(event);
  }

  return {
    /** The events of a stream; nothing for a stream that does not exist. */
    stream,
    /** At most one event of a stream. */
    first: async (name: string, options: ReadOptions): Promise<RecordedEvent | undefined> => {
      let found: RecordedEvent | undefined;
      for await (const event of stream(name, { ...options, limit: 1 })) found = event;
      return found;
    },
    /** Position of the very last event, including system events. */
    head: async (): Promise<Position> => {
      const read = client.readAll({
        ...fromLeader,
        direction: 'backwards',
        fromPosition: 'end',
        maxCount: 1,
      });
      let head = beginning;
      for await (const event of eventsOf(read, silenceMs)) head = toPosition(event.position);
      return head;
    },
    /** The next `limit` events of all streams after a position, in order, system events included. */
    async *allAfter(after: Position, limit: number): AsyncGenerator<Place, void, void> {
      // It begins with the event at the position; the port requires those after it.
      const read = client.readAll({ ...fromLeader, fromPosition: fromPosition(after), maxCount: limit + 1 });
      for await (const event of eventsOf(read, silenceMs, limit + 1)) {
        const position = toPosition(event.position);
        if (position > after) yield { stream: event.streamId, position, isTombstone: isTombstone(event) };
      }
    },
  };
}

interface ClientRead {
  [Symbol.asyncIterator](): AsyncIterator<{ event?: ClientEvent }>;
  on(event: 'error', listener: () => void): unknown;
  cancel(): Promise<void>;
}

/** @param limit the server ends the read by itself after this many events */
async function* eventsOf(
  read: ClientRead,
  silenceMs: number,
  limit = Infinity,
): AsyncGenerator<ClientEvent, void, void> {
  // An error after we have stopped listening would end the process.
  read.on('error', () => undefined);
  const iterator = read[Symbol.asyncIterator]();
  let isOver = false;
  let count = 0;
  try {
    for (;;) {
      const next = await storeInTime(systemClock, silenceMs, iterator.next());
      isOver = next.done === true;
      if (next.done === true) return;
      count += 1;
      if (next.value.event !== undefined) yield next.value.event;
    }
  } catch (error) {
    const failure = fromClientError(error);
    // The read itself does not notice silence, and continues.
    isOver = failure !== error;
    if (!isWithoutEvents(error)) throw failure;
  } finally {
    if (!isOver) leave(read, iterator, count < limit);
  }
}

/**
 * The client releases a read only if it was read to its end, or was cancelled before the server had sent that: do both, or
 * every read that is
 * left early stays in memory. A read that the server ends is not cancelled: servers close connections with many calls.
 */
function leave(read: ClientRead, iterator: AsyncIterator<unknown>, isGoingOn: boolean): void {
  const drain = async () => {
    let next = await iterator.next();
    while (next.done !== true) next = await iterator.next();
  };
  if (isGoingOn) read.cancel().catch(() => undefined);
  drain().catch(() => undefined);
}
