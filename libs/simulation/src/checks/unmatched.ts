/**
 * Payments and payouts that the service has and the store does not: made before Tollgate, or lost by a restore. Each gets a
 * review until its owner is known.
 */
import type { RecordedEvent } from '@tollgate/event-store';
import type { LedgerPayment, LedgerPayout } from '../payment-service/ledger.ts';
import type { World } from '../world.ts';

export function createUnmatchedChecks({ ledger, books, isRestored }: World) {
  /** Service tokens that have, or had, a review of their own or of the payment whose forgotten attempt they are. */
  const named = new Set<unknown>();
  /** The service's token by stream, while a review is open. */
  const open = new Map<string, string>();

  const isKnown = ({ token, orderNumber }: LedgerPayment | LedgerPayout): boolean =>
    books.byOrderNumber(orderNumber) !== undefined ||
    books.find(orderNumber.replace(/\.\d+$/, ''))?.serviceToken === token ||
    named.has(token);

  const untold = () =>
    [...ledger.payments, ...ledger.payouts]
      .filter((each) => hasMoved(each) && !isKnown(each))
      .map(({ orderNumber }) => `the service has ${orderNumber}, and nobody is told of it`);

  return {
    onRecorded: ({ stream, type, data }: RecordedEvent): void => {
      const { serviceToken, evidence } = data as Named;
      named.add(evidence?.['serviceToken']);
      if (!stream.startsWith('unmatched-')) return;
      named.add(serviceToken);
      if (type === 'ReviewOpened') open.set(stream, String(evidence?.['serviceToken']));
      if (type === 'ReviewResolved') open.delete(stream);
    },
    /** Open reviews whose payment has an owner by now; after a restore, also payments without a review. */
    differences: (): string[] => {
      const owned = new Set(books.all().map((each) => each.serviceToken));
      const stale = [...open.values()]
        .filter((token) => owned.has(token))
        .map((token) => `${token} belongs to somebody, and is still in review as nobody's`);
      return isRestored() ? [...stale, ...untold()] : stale;
    },
  };
}

/** Excludes voided payments and those of other installations. */
const hasMoved = (each: LedgerPayment | LedgerPayout): boolean =>
  'isStranger' in each
    ? !each.isStranger && (each.heldAmount > 0 || ['approved', 'refunded'].includes(each.status))
    : each.status !== 'declined';

interface Named {
  serviceToken?: string;
  evidence?: Readonly<Record<string, unknown>>;
}
