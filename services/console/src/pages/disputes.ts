/** The disputes of all teams: first those that the bank has not decided. */
import { type Html, html } from '@tollgate/service-kit';
import { amount } from '../components/amount.ts';
import { ownerCell, partListPage, paymentCell } from '../components/part-list.ts';
import { chip } from '../components/state.ts';
import { rowTable } from '../components/table.ts';
import { timeInColumn, zone } from '../components/time.ts';
import { texts } from '../texts.ts';

const words = texts.disputes;

/** As the API lists it. */
interface ListedDispute {
  id: string;
  /** Absent while the payment is not known. */
  paymentToken?: string;
  team?: string;
  environment: string;
  status: string;
  reportedStatus: string;
  amount: number;
  currency: string;
  reasonCode?: string;
  createdAt: string;
  updatedAt: string;
}

export const disputesPage = partListPage<ListedDispute>({
  name: 'disputes',
  words,
  views: [
    [words.views.open, 'open'],
    [words.views.unknown, 'unknown'],
    [words.views.all, ''],
    [words.views.won, 'won'],
    [words.views.lost, 'lost'],
  ],
  table: (disputes) =>
    rowTable(
      words.title,
      [
        { name: html`${words.columns.created} ${zone}` },
        { name: words.columns.state },
        { name: words.columns.amount, isNumber: true },
        { name: words.columns.reason, isSecond: true },
        { name: words.columns.team },
        { name: words.columns.changed, isSecond: true },
        { name: words.columns.payment },
        { name: words.columns.id, isSecond: true },
      ],
      disputes.map(disputeRow),
    ),
});

const tones: Readonly<Record<string, string>> = { open: 'note', unknown: 'note', won: 'good', lost: 'bad' };

function disputeRow(dispute: ListedDispute): Html {
  const { status, reportedStatus } = dispute;
  const reported = status === 'unknown' ? html` <small>${reportedStatus}</small>` : undefined;
  return html`<tr data-row="">
    <td>${timeInColumn(dispute.createdAt)}</td>
    <td title="${reportedStatus}">${chip(words.states[status] ?? status, tones[status])}${reported}</td>
    <td class="number">${amount(dispute.amount, dispute.currency)}</td>
    <td class="text second">${dispute.reasonCode}</td>
    ${ownerCell(dispute)}
    <td class="second">${timeInColumn(dispute.updatedAt)}</td>
    ${paymentCell(dispute.paymentToken)}
    <td class="text second"><code>${dispute.id}</code></td>
  </tr>`;
}
