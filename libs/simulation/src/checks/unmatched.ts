/**
 * What the service has and the store does not: made by whoever was there before us, or forgotten by a store that was restored. Each is named
 * to a person, until it is known whose it is.
 */
import type { RecordedEvent } from '@tollgate/event-store';
import type { LedgerPayment, LedgerPayout } from '../payment-service/ledger.ts';
import type { World } from '../world.ts';

export function createUnmatchedChecks({ ledger, books, isRestored }: World) {
  /** By the service's token: what has, or had, a review of its own, or one of the payment whose forgotten attempt it is. */
  const named = new Set<unknown>();
  /** By stream: the service's token, while a review is open. */
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
    /** What is in question, and has an owner by now; in a restored store also what nobody is told of. */
    differences: (): string[] => {
      const owned = new Set(books.all().map((each) => each.serviceToken));
      const stale = [...open.values()]
        .filter((token) => owned.has(token))
        .map((token) => `${token} belongs to somebody, and is still in review as nobody's`);
      return isRestored() ? [...stale, ...untold()] : stale;
    },
  };
}

/** Money that went back is nobody's any more, and that of a stranger never was ours. */
const hasMoved = (each: LedgerPayment | LedgerPayout): boolean =>
  'isStranger' in each
    ? !each.isStranger && (each.heldAmount > 0 || ['approved', 'refunded'].includes(each.status))
    : each.status !== 'declined';

interface Named {
  serviceToken?: string;
  evidence?: Readonly<Record<string, unknown>>;
}
