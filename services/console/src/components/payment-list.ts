/** Payments in a table, one row each. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { amountColumn, teamColumn, tokenColumn } from './list-columns.ts';
import { chip } from './state.ts';
import type { List, ListColumn } from './table.ts';
import { timeInDay, zone } from './time.ts';
import { shortToken } from './token.ts';

export type ListedPayment = AnswerOf<'OperatorPaymentList'>['payments'][number];

export const paymentPath = (token: string): string => `/console/payments/${encodeURIComponent(token)}`;

/** The page of a payment or payout. */
export const operationPath = (token: string): string =>
  `/console/${token.startsWith('po_') ? 'payouts' : 'payments'}/${encodeURIComponent(token)}`;

/** The last digits of a mask, by which people distinguish cards. */
export const shortMask = (mask: string | undefined): string =>
  mask === undefined ? '' : `•••• ${mask.slice(-4)}`;

export interface Sorting {
  isOldestFirst: boolean;
  /** URL of the same list in reverse order. */
  other: string;
}

/** The disputed amount, pending or lost. */
export const disputeChip = ({
  disputedAmount,
  lostAmount,
}: Pick<ListedPayment, 'disputedAmount' | 'lostAmount'>): Html | undefined => {
  if (disputedAmount > 0) return html` ${chip('Disputed', 'note')}`;
  return lostAmount > 0 ? html` ${chip('Lost', 'bad')}` : undefined;
};

/** @param sorting by creation only: another order would read every payment */
export function paymentList(sorting: Sorting): List<ListedPayment> {
  return {
    name: 'payments',
    label: 'Payments',
    keyOf: ({ token }) => token,
    hasDays: true,
    columns: [
      { id: 'order', name: 'Order number', use: 'always', cell: orderCell },
      { id: 'state', name: 'State', width: 'state', use: 'always', cell: stateCell },
      amountColumn(),
      createdColumn(sorting),
      { id: 'product', name: 'Product', isSecond: true, cell: ({ product }) => product },
      teamColumn(),
      { id: 'account', name: 'Account', width: 'word', use: 'asked', cell: ({ account }) => account },
      {
        id: 'card',
        name: 'Card',
        width: 'word',
        isSecond: true,
        cell: ({ sanitizedMask }) => shortMask(sanitizedMask),
      },
      { ...tokenColumn('token', 'Token', ({ token }: ListedPayment) => token), use: 'asked' },
    ],
  };
}

function createdColumn({ isOldestFirst, other }: Sorting): ListColumn<ListedPayment> {
  return {
    id: 'created',
    name: 'Created',
    head: html`<a class="sort" href="${other}" title="${isOldestFirst ? 'Newest first' : 'Oldest first'}"
        >Created <span aria-hidden="true">${isOldestFirst ? '↑' : '↓'}</span></a
      >
      ${zone}`,
    width: 'time',
    sort: isOldestFirst ? 'ascending' : 'descending',
    cell: ({ createdAt }) => timeInDay(createdAt),
  };
}

const orderCell = ({ token, orderNumber }: ListedPayment): Html =>
  html`<a href="${paymentPath(token)}" title="${orderNumber ?? token}"
    >${orderNumber ?? shortToken(token)}</a
  >`;

function stateCell(payment: ListedPayment): Html {
  const asked = payment.reviews.length === 0 ? undefined : html` ${chip('Review', 'note')}`;
  return html`${chip(payment.phase)}${disputeChip(payment)}${asked}`;
}
