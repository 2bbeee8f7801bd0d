/** What the service has, and a store that was restored has forgotten: each is named to a person. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Books } from './books.ts';
import type { Ledger, LedgerPayment, LedgerPayout } from './payment-service/ledger.ts';

export interface NamedChecks {
  onRecorded(event: Pick<RecordedEvent, 'stream' | 'data'>): void;
  /** What has moved money, is on record nowhere, and was named to nobody. */
  differences(): string[];
}

export function createNamedChecks({ ledger, books }: { ledger: Ledger; books: Books }): NamedChecks {
  /** By the service's token: what has, or had, a review of its own, or one of the payment whose forgotten attempt it is. */
  const named = new Set<unknown>();

  const isKnown = ({ token, orderNumber }: LedgerPayment | LedgerPayout): boolean =>
    books.byOrderNumber(orderNumber) !== undefined ||
    books.find(orderNumber.replace(/\.\d+$/, ''))?.serviceToken === token ||
    named.has(token);

  return {
    onRecorded: ({ stream, data }) => {
      const { serviceToken, evidence } = data as Named;
      if (stream.startsWith('unmatched-')) named.add(serviceToken);
      named.add(evidence?.['serviceToken']);
    },
    differences: () =>
      [...ledger.payments, ...ledger.payouts]
        .filter((each) => hasMoved(each))
        .filter((each) => !isKnown(each))
        .map(({ orderNumber }) => `the service has ${orderNumber}, and nobody is told of it`),
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
