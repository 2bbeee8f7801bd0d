/** Reads what the store has now, and no further. */
import { type EventStore, type Position, type RecordedEvent } from '../event-store.ts';

/** The events of some streams that the store has now. @throws StoreUnavailable; the signal's reason */
export async function* eventsUntilNow(
  store: Pick<EventStore, 'head' | 'subscribe'>,
  { from, prefixes, signal }: { from: Position; prefixes: readonly string[]; signal?: AbortSignal },
): AsyncGenerator<RecordedEvent, void, void> {
  const head = await store.head();
  if (from >= head) return;
  const ending = new AbortController();
  const until = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
  try {
    for await (const item of store.subscribe({ from, prefixes, signal: until })) {
      if (item.kind === 'caught-up' || item.position > head) return;
      yield item;
    }
    signal?.throwIfAborted();
  } finally {
    ending.abort();
  }
}

/** A follower that lags by more events is not waited for. */
const lagEventsMax = 20_000;

/** The position of the last event of the followed streams that the store has now; `after` without one. @throws StoreUnavailable */
export async function lastEventAfter(
  { store, prefixes }: { store: Pick<EventStore, 'head' | 'subscribe'>; prefixes: readonly string[] },
  after: Position,
): Promise<Position> {
  let [last, count] = [after, 0];
  for await (const { position } of eventsUntilNow(store, { from: after, prefixes })) {
    last = position;
    count += 1;
    if (count > lagEventsMax) return store.head();
  }
  return last;
}
