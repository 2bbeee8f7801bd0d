import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@tollgate/service-kit';
import { storeSilent } from './store-failure.ts';

/**
 * Gives what `work` gives, unless that takes too long. The client's own deadlines are left aside: some calls have none.
 *
 * @throws StoreUnavailable `store_silent` when the time is over; what becomes of `work` later is nobody's business
 */
export async function within<Result>(clock: Clock, waitMs: number, work: Promise<Result>): Promise<Result> {
  const ending = new AbortController();
  // A rejection that comes after the time is over would otherwise end the process.
  work.catch(() => undefined);
  const expiry = clock.sleep(waitMs, ending.signal).then(
    () => {
      throw storeSilent(waitMs);
    },
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([work, expiry]);
  } finally {
    ending.abort();
  }
}

/**
 * Waits in real time, and never longer than until the signal is aborted. This is the adapter's own timer: a subscription
 * must also recover under a clock that a test has stopped.
 */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await delay(durationMs, undefined, { ref: false, signal }).catch(() => undefined);
}
