import type { Clock } from '@tollgate/service-kit';
import type { EventStore, Position } from '../event-store.ts';

/** After this time the store counts as unavailable, milliseconds: the scrape waits for it. */
const tellWithinMs = 1_000;

/**
 * Age of the first event after `from` in streams of these prefixes, seconds; 0 if there is none, undefined if the store does
 * not report it.
 */
export async function lagSeconds(
  { store, clock }: { store: Pick<EventStore, 'subscribe'>; clock: Clock },
  { from, prefixes }: { from: Position; prefixes: readonly string[] },
): Promise<number | undefined> {
  const ending = new AbortController();
  const end = () => ending.abort();
  clock.sleep(tellWithinMs, ending.signal).then(end, end);
  try {
    for await (const item of store.subscribe({ from, prefixes, signal: ending.signal }))
      return item.kind === 'caught-up' ? 0 : Math.max(0, clock.now() - item.recordedAt) / 1_000;
    return undefined;
  } finally {
    end();
  }
}
