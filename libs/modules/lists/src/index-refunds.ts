/** Refunds are parts of payments: an index row leads to the payment, which has the rest. */
import type { Refund } from '@tollgate/core';
import { statusOfRefundPhase } from '@tollgate/gateway-api';
import { InvariantViolation } from '@tollgate/service-kit';
import { paymentKind, type PaymentView } from '@tollgate/views';
import type { IndexFile } from './index-file.ts';
import type { ListedTable } from './index-filters.ts';
import { listRows } from './index-lists.ts';
import type { Statements } from './index-rows.ts';
import type { ListQuery, OfOwners, ViewList } from './list-page.ts';

export interface RefundEntry extends Pick<PaymentView, 'position'> {
  refund: Refund;
  view: PaymentView;
}

const phases: readonly Refund['state'][] = ['submitted', 'unresolved', 'accepted', 'approved', 'declined'];

const refundTable: ListedTable = {
  name: 'refund',
  table: {
    name: 'refunds',
    phasesOf: (status) => phases.filter((phase) => statusOfRefundPhase(phase) === status),
  },
};

/** The key of a row. The store may hold two payments with a refund of the same token. */
const keyOf = (paymentToken: string, refundToken: string): string => `${paymentToken}~${refundToken}`;

/** For changed refunds. Call in a transaction. */
export function writeRefunds(
  statements: Statements,
  { token, payment, refundTimes }: PaymentView,
  before: PaymentView | undefined,
): void {
  const { environment, team, terms, refunds } = payment;
  const add = statements('INSERT OR REPLACE INTO refunds VALUES (?, ?, ?, ?, ?, ?, ?)');
  const change = statements('UPDATE refunds SET phase = ? WHERE token = ?');
  for (const [place, { refundToken, state }] of refunds.entries()) {
    const known = before?.payment.refunds[place]?.state;
    const createdAt = refundTimes[place]?.createdAt ?? 0;
    if (known === undefined)
      add.run(keyOf(token, refundToken), environment, team, createdAt, state, terms.currency, token);
    else if (known !== state) change.run(state, keyOf(token, refundToken));
  }
}

/** The refunds of some owners that match a query, in order. */
export function listRefunds(
  file: IndexFile,
  { owners, ...query }: OfOwners<ListQuery>,
): ViewList<RefundEntry> {
  let read: PaymentView | undefined;
  return listRows(file, {
    list: 'refunds',
    owners,
    query,
    tables: [refundTable],
    entryOf({ token: key }) {
      const [paymentToken = '', refundToken] = String(key).split('~');
      // Refunds of one payment often follow one another, and it may be large.
      const found = read?.token === paymentToken ? undefined : file.findMeasured(paymentKind, paymentToken);
      read = found?.view ?? read;
      const refund = read?.payment.refunds.find((each) => each.refundToken === refundToken);
      if (read === undefined || refund === undefined)
        throw new InvariantViolation('a refund of the index has no payment');
      return { entry: { refund, view: read, position: read.position }, length: found?.length ?? 0 };
    },
  });
}
