/** Payments in a table, one row each. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { amount } from './amount.ts';
import { chip } from './state.ts';
import { timeInColumn, timeInDay, zone } from './time.ts';
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
  /** Names of those to show, besides the first three; the usual ones unless given. */
  columns?: ReadonlySet<string>;
}

/** Columns that a reader may leave out. */
const optionalColumns = ['created', 'product', 'team', 'card', 'account', 'token'] as const;
const usualColumns: ReadonlySet<string> = new Set(['created', 'product', 'team', 'card']);
export const columnsIn = (chosen: string | undefined): ReadonlySet<string> =>
  chosen === undefined ? usualColumns : new Set(chosen.split('.'));

export function paymentTable(payments: readonly ListedPayment[], options: TableOptions = {}): Html {
  const { why, sorting, columns: chosen = usualColumns } = options;
  const { columns } = texts.payments;
  const head = (name: (typeof optionalColumns)[number]) =>
    chosen.has(name) ? html`<th scope="col" class="${name}">${columns[name]}</th>` : undefined;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${texts.payments.title}">
    <table class="rows payments" ${sorting === undefined ? undefined : html`data-days=""`}>
      <thead>
        <tr>
          <th scope="col" class="order">${columns.order}</th>
          <th scope="col" class="state">${columns.state}</th>
          <th scope="col" class="number">${columns.amount}</th>
          ${chosen.has('created') ? createdHead(sorting) : undefined} ${head('product')} ${head('team')}
          ${head('account')} ${head('card')} ${head('token')}
        </tr>
      </thead>
      <tbody>
        ${payments.map((payment, place) => paymentRow(payment, { chosen, why: why?.(place), isShort: sorting !== undefined }))}
      </tbody>
    </table>
  </div>`;
}

function createdHead(sorting: Sorting | undefined): Html {
  const { created } = texts.payments.columns;
  if (sorting === undefined) return html`<th scope="col" class="created long">${created} ${zone}</th>`;
  const { isOldestFirst, other } = sorting;
  return html`<th scope="col" class="created" aria-sort="${isOldestFirst ? 'ascending' : 'descending'}">
    <a
      class="sort"
      href="${other}"
      title="${isOldestFirst ? texts.payments.newestFirst : texts.payments.oldestFirst}"
      >${created} <span aria-hidden="true">${isOldestFirst ? '↑' : '↓'}</span></a
    >
    ${zone}
  </th>`;
}

interface RowOptions {
  chosen: ReadonlySet<string>;
  why: string | undefined;
  /** The day is above the row. */
  isShort: boolean;
}

function paymentRow(payment: ListedPayment, { chosen, why, isShort }: RowOptions): Html {
  const { token, createdAt, phase, orderNumber, product, team, account, environment } = payment;
  const mode =
    environment === 'sandbox' ? undefined : html` <small class="production">${environment}</small>`;
  const asked = payment.reviews.length === 0 ? undefined : html` ${chip(texts.payments.review, 'note')}`;
  const cell = (name: (typeof optionalColumns)[number], content: () => Html | string | undefined) =>
    chosen.has(name) ? html`<td class="${name}">${content()}</td>` : undefined;
  return html`<tr data-row="">
    <td class="order">
      <a href="${paymentPath(token)}" title="${orderNumber ?? token}">${orderNumber ?? shortToken(token)}</a>
      ${why === undefined ? undefined : html`<small class="why">${why}</small>`}
    </td>
    <td class="state">${chip(phase)}${disputeChip(payment)}${asked}</td>
    <td class="number">${amount(payment.amount, payment.currency)}</td>
    ${cell('created', () => (isShort ? timeInDay(createdAt) : timeInColumn(createdAt)))}
    ${cell('product', () => html`<span title="${product}">${product}</span>`)}
    ${cell('team', () => html`<span title="${team}">${team}</span>${mode}`)} ${cell('account', () => account)}
    ${cell('card', () => shortMask(payment.sanitizedMask))}
    ${cell('token', () => html`<code title="${token}">${shortToken(token)}</code>`)}
  </tr>`;
}

/** Checked by name in the form; `columns` in the address, and kept in the reader's browser. */
export function columnMenu(query: URLSearchParams, chosen: ReadonlySet<string>): Html {
  const kept = [...query].filter(([name]) => name !== 'columns' && name !== 'cursor');
  const checks = optionalColumns.map((name) => {
    const checked = chosen.has(name) ? html` checked` : undefined;
    return html`<label class="check"
      ><input
        type="checkbox"
        name="column"
        value="${name}"
        ${checked}
      />${texts.payments.columns[name]}</label
    >`;
  });
  return html`<details class="menu">
    <summary class="button">${texts.payments.columnsName}</summary>
    <form class="columns" action="/console/payments">
      ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)} ${checks}
      <button>${texts.payments.filters.apply}</button>
    </form>
  </details>`;
}
