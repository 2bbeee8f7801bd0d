import { type Clock, within as inTime } from '@tollgate/service-kit';
import { StoreUnavailable } from './errors.ts';

/** A call to a store may have no deadline, or one that is too late here. @throws StoreUnavailable `store_silent` */
export const within = <Result>(clock: Clock, waitMs: number, work: Promise<Result>): Promise<Result> =>
  inTime(clock, waitMs, {
    work,
    tooLate: () =>
      new StoreUnavailable('store_silent', `The event store did not answer within ${waitMs} ms.`),
  });
