/** The refunds of all teams: first those that are under way. */
import { type Html, html } from '@tollgate/service-kit';
import { amount } from '../components/amount.ts';
import { ownerCell, partListPage, paymentCell, reviewChip } from '../components/part-list.ts';
import { chip } from '../components/state.ts';
import { rowTable } from '../components/table.ts';
import { timeInColumn, zone } from '../components/time.ts';
import { shortToken } from '../components/token.ts';
import { texts } from '../texts.ts';

const words = texts.refunds;

/** As the API lists it. */
interface ListedRefund {
  token: string;
  paymentToken: string;
  team: string;
  environment: string;
  status: string;
  phase: string;
  amount: number;
  currency: string;
  errors: readonly { code: string }[];
  reviews: readonly unknown[];
  createdAt: string;
  updatedAt: string;
}

export const refundsPage = partListPage<ListedRefund>({
  name: 'refunds',
  words,
  views: [
    [words.views.open, 'pending'],
    [words.views.all, ''],
    [words.views.approved, 'approved'],
    [words.views.declined, 'declined'],
  ],
  table: refundTable,
});

function refundTable(refunds: readonly ListedRefund[]): Html {
  const { columns } = words;
  return rowTable(
    words.title,
    [
      { name: html`${columns.created} ${zone}` },
      { name: columns.state },
      { name: columns.amount, isNumber: true },
      { name: columns.why, isSecond: true },
      { name: columns.team },
      { name: columns.changed, isSecond: true },
      { name: columns.payment },
      { name: columns.token, isSecond: true },
    ],
    refunds.map(refundRow),
  );
}

const tones: Readonly<Record<string, string>> = { submitted: 'busy', unresolved: 'note', accepted: 'busy' };

function refundRow(refund: ListedRefund): Html {
  const { token, phase, errors } = refund;
  const state = tones[phase] === undefined ? chip(phase) : chip(words.phases[phase] ?? phase, tones[phase]);
  return html`<tr data-row="">
    <td>${timeInColumn(refund.createdAt)}</td>
    <td>${state}${reviewChip(refund.reviews)}</td>
    <td class="number">${amount(refund.amount, refund.currency)}</td>
    <td class="text second">${errors.map(({ code }) => code).join(', ')}</td>
    ${ownerCell(refund)}
    <td class="second">${timeInColumn(refund.updatedAt)}</td>
    ${paymentCell(refund.paymentToken)}
    <td class="second"><code title="${token}">${shortToken(token)}</code></td>
  </tr>`;
}
