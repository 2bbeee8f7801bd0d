/** Payments in a table, one row each. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { amountColumn, createdColumn, teamColumn, tokenColumn } from './list-columns.ts';
import { chip } from './state.ts';
import { type List, column } from './table.ts';
import { zone } from './time.ts';
import { operationPath, shortToken } from './token.ts';

export type ListedPayment = AnswerOf<'OperatorPaymentList'>['payments'][number];

/** The last digits of a mask, by which people distinguish cards. */
export const shortMask = (mask: string | undefined): string =>
  mask === undefined ? '' : `•••• ${mask.slice(-4)}`;

/** The disputed amount, pending or lost. */
export const disputeChip = ({
  disputedAmount,
  lostAmount,
}: Pick<ListedPayment, 'disputedAmount' | 'lostAmount'>): Html | undefined => {
  if (disputedAmount > 0) return html` ${chip('Disputed', 'note')}`;
  return lostAmount > 0 ? html` ${chip('Lost', 'bad')}` : undefined;
};

export const reviewChip = (reviews: readonly unknown[]): Html | undefined =>
  reviews.length === 0 ? undefined : html` ${chip('Review', 'note')}`;

/** Sorted by creation only: another order would read every payment. @param reversed URL of the list in reverse order */
export function paymentList(isOldestFirst: boolean, reversed: string): List<ListedPayment> {
  const [hint, arrow] = isOldestFirst ? ['Newest first', '↑'] : ['Oldest first', '↓'];
  return {
    name: 'payments',
    label: 'Payments',
    keyOf: ({ token }) => token,
    hasDays: true,
    columns: [
      column('order', 'Order number', orderCell, { use: 'always' }),
      column('state', 'State', stateCell, { width: 'state', use: 'always' }),
      amountColumn(),
      createdColumn('Created', ({ createdAt }) => createdAt, {
        head: html`<a class="sort" href="${reversed}" title="${hint}"
            >Created <span aria-hidden="true">${arrow}</span></a
          >
          ${zone}`,
        sort: isOldestFirst ? 'ascending' : 'descending',
      }),
      column('product', 'Product', ({ product }) => product, { isSecond: true }),
      teamColumn(),
      column('account', 'Account', ({ account }) => account, { width: 'word', use: 'asked' }),
      column('card', 'Card', ({ sanitizedMask }) => shortMask(sanitizedMask), {
        width: 'word',
        isSecond: true,
      }),
      tokenColumn('token', 'Token', ({ token }) => token, { use: 'asked' }),
    ],
  };
}

const orderCell = ({ token, orderNumber }: ListedPayment): Html =>
  html`<a href="${operationPath(token)}" title="${orderNumber ?? token}"
    >${orderNumber ?? shortToken(token)}</a
  >`;

const stateCell = (payment: ListedPayment): Html =>
  html`${chip(payment.phase)}${disputeChip(payment)}${reviewChip(payment.reviews)}`;
