/** Payments in a table, one row each. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { amount } from './amount.ts';
import { chip } from './state.ts';
import { timeInColumn, zone } from './time.ts';
import { shortToken } from './token.ts';

/** As the API lists it. */
export interface ListedPayment {
  token: string;
  team: string;
  environment: string;
  account: string;
  phase: string;
  status: string;
  amount: number;
  currency: string;
  product: string;
  orderNumber?: string;
  sanitizedMask?: string;
  createdAt: string;
  reviews: readonly unknown[];
  disputedAmount: number;
  lostAmount: number;
}

export const paymentPath = (token: string): string => `/console/payments/${encodeURIComponent(token)}`;

/** The last digits of a mask, which is all that tells cards apart for a person. */
export const shortMask = (mask: string | undefined): string =>
  mask === undefined ? '' : `•••• ${mask.slice(-4)}`;

export interface Sorting {
  isOldestFirst: boolean;
  /** Address of the same list in the other order. */
  other: string;
}

/** What a bank wants back, or has taken back. */
export const disputeChip = ({
  disputedAmount,
  lostAmount,
}: Pick<ListedPayment, 'disputedAmount' | 'lostAmount'>): Html | undefined => {
  if (disputedAmount > 0) return html` ${chip(texts.payments.disputed, 'note')}`;
  return lostAmount > 0 ? html` ${chip(texts.payments.lost, 'bad')}` : undefined;
};

interface TableOptions {
  /** Why a payment is in the table. */
  why?: (place: number) => string;
  /** By creation: no other order can be read of a million payments without looking at all of them. */
  sorting?: Sorting;
}

export function paymentTable(payments: readonly ListedPayment[], { why, sorting }: TableOptions = {}): Html {
  const { columns } = texts.payments;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${texts.payments.title}">
    <table class="rows payments">
      <thead>
        <tr>
          ${createdHead(sorting)}
          <th scope="col">${columns.state}</th>
          <th scope="col" class="number">${columns.amount}</th>
          <th scope="col">${columns.order}</th>
          <th scope="col" class="second">${columns.product}</th>
          <th scope="col">${columns.team}</th>
          <th scope="col" class="second">${columns.account}</th>
          <th scope="col" class="second">${columns.card}</th>
          <th scope="col">${columns.token}</th>
        </tr>
      </thead>
      <tbody>
        ${payments.map((payment, place) => paymentRow(payment, why?.(place)))}
      </tbody>
    </table>
  </div>`;
}

function createdHead(sorting: Sorting | undefined): Html {
  const { created } = texts.payments.columns;
  if (sorting === undefined) return html`<th scope="col">${created} ${zone}</th>`;
  const { isOldestFirst, other } = sorting;
  return html`<th scope="col" aria-sort="${isOldestFirst ? 'ascending' : 'descending'}">
    <a
      class="sort"
      href="${other}"
      title="${isOldestFirst ? texts.payments.newestFirst : texts.payments.oldestFirst}"
      >${created} <span aria-hidden="true">${isOldestFirst ? '↑' : '↓'}</span></a
    >
    ${zone}
  </th>`;
}

function paymentRow(payment: ListedPayment, why: string | undefined): Html {
  const { token, createdAt, phase, orderNumber, product, team, account, environment } = payment;
  const mode =
    environment === 'sandbox' ? undefined : html` <small class="production">${environment}</small>`;
  const asked = payment.reviews.length === 0 ? undefined : html` ${chip(texts.payments.review, 'note')}`;
  return html`<tr data-row="">
    <td class="created">${timeInColumn(createdAt)}</td>
    <td class="state">${chip(phase)}${disputeChip(payment)}${asked}</td>
    <td class="number">${amount(payment.amount, payment.currency)}</td>
    <td class="text order">${orderNumber}</td>
    <td class="text second">${product}</td>
    <td class="team">${team}${mode}</td>
    <td class="second">${account}</td>
    <td class="second">${shortMask(payment.sanitizedMask)}</td>
    <td class="token">
      <a href="${paymentPath(token)}" title="${token}"><code>${shortToken(token)}</code></a>
      ${why === undefined ? undefined : html`<small class="why">${why}</small>`}
    </td>
  </tr>`;
}
