import { TollgateError, type Clock, within } from '@tollgate/service-kit';

/**
 * The store did not confirm. Retryable unless stated otherwise: repeat with the same event ids and the same concrete expected
 * revision, and it is written once.
 */
export class StoreUnavailable extends TollgateError {
  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(code, message, { retryable: true, ...options });
  }
}

/** An argument that no store accepts; nothing was written, and a repeat will not help. */
export class InvalidArgument extends TollgateError {}

/**
 * The store has reported events that it does not show: a leader without a quorum has them, or has lost them. They prove neither
 * presence nor absence.
 */
export const notShown = (stream: string): StoreUnavailable =>
  new StoreUnavailable(
    'store_unconfirmed',
    `The event store does not return yet what it has confirmed of ${stream}.`,
  );

export const storeClosed = () =>
  new StoreUnavailable('store_closed', 'The event store is closed.', { retryable: false });

const storeSilent = (waitMs: number) =>
  new StoreUnavailable('store_silent', `The event store did not answer within ${waitMs} ms.`);

/** Adds a deadline to a call of a store. @throws StoreUnavailable `store_silent` */
export const storeInTime = <Result>(clock: Clock, waitMs: number, work: Promise<Result>): Promise<Result> =>
  within(clock, waitMs, { work, tooLate: () => storeSilent(waitMs) });
