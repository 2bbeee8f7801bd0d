/** A filtered list of payments as a CSV file, page by page, so that its length costs no memory. */
import type { OperationView, PaymentIndex, PaymentListQuery } from '@tollgate/view-index';
import { InvariantViolation } from '@tollgate/service-kit';
import { toCsvLine } from './csv.ts';
import type { OperationType } from './list-query.ts';
import { listOf, toShown } from './payment-lists.ts';

/** Read at once; it blocks the event loop for some milliseconds. */
const rowsPerPage = 50;

type Shown = ReturnType<typeof toShown>;

/** Amounts are in minor units of the currency beside them, instants ISO 8601 in UTC. What payouts lack is empty. */
const columns: Readonly<Record<string, (shown: Shown) => string | number | undefined>> = {
  token: ({ token }) => token,
  operationType: (shown) => ('operationType' in shown ? shown.operationType : 'payment'),
  status: ({ status }) => status,
  phase: ({ phase }) => phase,
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  orderNumber: ({ orderNumber }) => orderNumber,
  product: (shown) => ('product' in shown ? shown.product : undefined),
  currency: ({ currency }) => currency,
  amount: ({ amount }) => amount,
  heldAmount: (shown) => ('heldAmount' in shown ? shown.heldAmount : undefined),
  approvedAmount: (shown) => ('approvedAmount' in shown ? shown.approvedAmount : undefined),
  refundedAmount: (shown) => ('refundedAmount' in shown ? shown.refundedAmount : undefined),
  sanitizedMask: ({ sanitizedMask }) => sanitizedMask,
  declineReason: ({ declineReason }) => declineReason,
  reviews: ({ reviews }) => reviews.map(({ code }) => code).join(' '),
  revision: ({ revision }) => revision,
};
const readers = Object.values(columns);

export interface ExportQuery {
  operationType: OperationType;
  query: Omit<PaymentListQuery, 'perPage' | 'page' | 'cursor' | 'withTotal'>;
}

/**
 * The text of the file in pieces, newest first. Every row is as it is when its page is read: what fits the filters from
 * the first page to the last is in it exactly once, nothing twice, and what is created after the first page is not in it.
 * It throws as lists do, also in the middle.
 */
export async function* exportedLines(
  index: PaymentIndex,
  { operationType, query }: ExportQuery,
): AsyncGenerator<string, void, void> {
  let text = toCsvLine(Object.keys(columns));
  let cursor: string | undefined;
  do {
    const page = { ...query, perPage: rowsPerPage, ...(cursor === undefined ? {} : { cursor }) };
    const list = listOf(index, operationType, page);
    if (list.kind === 'refused') throw new InvariantViolation('a list has refused its own cursor');
    yield text + list.views.map(toLine).join('');
    text = '';
    cursor = list.nextCursor;
    // A client that reads fast must not keep the others from being answered.
    await new Promise((resolve) => void setImmediate(resolve));
  } while (cursor !== undefined);
}

function toLine(view: OperationView): string {
  const shown = toShown(view);
  return toCsvLine(readers.map((read) => read(shown)));
}
