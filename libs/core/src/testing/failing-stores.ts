/** Stores that fail one process at a chosen moment. */
import { type EventStore, StoreUnavailable } from '@tollgate/event-store';

/**
 * The end of an append. `written` and `lost`: the process dies just after or just before it. `refused` and `unconfirmed`: the
 * store cannot confirm that it is durable, and it is not, or is.
 */
export type AppendEnd = 'ends well' | 'written' | 'lost' | 'refused' | 'unconfirmed';

/** @param endOf the end of the nth append (from 1) to a payment or payout */
export function failingStore(endOf: (nth: number) => AppendEnd): (store: EventStore) => EventStore {
  let count = 0;
  return (store) => ({
    ...store,
    async append(stream, events, expected, options) {
      if (!/^(payment|payout)-/.test(stream)) return store.append(stream, events, expected, options);
      count += 1;
      const end = endOf(count);
      if (end === 'lost') return new Promise(() => undefined);
      if (end === 'refused') throw new StoreUnavailable('store_unavailable', 'the disk is full');
      const answer = await store.append(stream, events, expected);
      if (end === 'unconfirmed') throw new StoreUnavailable('store_unavailable', 'no confirmation');
      return end === 'written' ? new Promise(() => undefined) : answer;
    },
  });
}

/** A process that dies between its announcement and the call. */
export const diesAnnounced = failingStoreAt(1, 'written');
/** A process that dies between the call and the record of its end. */
export const diesAfterCall = failingStoreAt(2, 'lost');

function failingStoreAt(nth: number, end: AppendEnd): () => (store: EventStore) => EventStore {
  return () => failingStore((each) => (each === nth ? end : 'ends well'));
}

/** A process that reads a stream too early: its first read lacks the event of this type. */
export function seesTooLate(type: string): (store: EventStore) => EventStore {
  let isFirst = true;
  return (store) => ({
    ...store,
    async *read(stream, options) {
      const isStale = isFirst && /^(payment|payout)-/.test(stream);
      if (isStale) isFirst = false;
      for await (const event of store.read(stream, options)) if (!isStale || event.type !== type) yield event;
    },
  });
}
