import type { Clock } from '@tollgate/service-kit';
import { StoreUnavailable } from './errors.ts';

/**
 * Gives what `work` gives, unless that takes too long: a call to a store may have no deadline, or one that is too late here.
 *
 * @throws StoreUnavailable `store_silent` when the time is over; what becomes of `work` later is nobody's business
 */
export async function within<Result>(clock: Clock, waitMs: number, work: Promise<Result>): Promise<Result> {
  const ending = new AbortController();
  // A rejection that comes after the time is over would otherwise end the process.
  work.catch(() => undefined);
  const expiry = clock.sleep(waitMs, ending.signal).then(
    () => {
      throw new StoreUnavailable('store_silent', `The event store did not answer within ${waitMs} ms.`);
    },
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([work, expiry]);
  } finally {
    ending.abort();
  }
}
