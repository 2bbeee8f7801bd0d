/** The disputes of all teams; open ones first. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import {
  amountColumn,
  createdColumn,
  teamColumn,
  timeColumn,
  tokenColumn,
} from '../components/list-columns.ts';
import { partListPage, paymentLink } from '../components/part-list.ts';
import { chip } from '../components/state.ts';
import type { List } from '../components/table.ts';
import { texts } from '../texts.ts';

type ListedDispute = AnswerOf<'OperatorDisputeList'>['disputes'][number];

const tones: Readonly<Record<string, string>> = { open: 'note', unknown: 'note', won: 'good', lost: 'bad' };

function stateCell({ status, reportedStatus }: ListedDispute): Html {
  const reported = status === 'unknown' ? html` <small>${reportedStatus}</small>` : undefined;
  return html`<span title="${reportedStatus}"
      >${chip(texts.disputeStates[status] ?? status, tones[status])}</span
    >${reported}`;
}

const list: List<ListedDispute> = {
  name: 'disputes',
  label: 'Disputes',
  keyOf: ({ id }) => id,
  hasDays: true,
  columns: [
    {
      id: 'id',
      name: 'Dispute',
      use: 'always',
      cell: ({ id, paymentToken }) => paymentLink(paymentToken, id),
    },
    { id: 'state', name: 'State', width: 'state', use: 'always', cell: stateCell },
    amountColumn(),
    createdColumn('Opened', ({ createdAt }) => createdAt),
    { id: 'reason', name: 'Reason', isSecond: true, cell: ({ reasonCode }) => reasonCode },
    teamColumn(),
    timeColumn('changed', 'Last change', ({ updatedAt }) => updatedAt),
    tokenColumn('of', 'Payment', ({ paymentToken = '' }) => paymentToken),
  ],
};

export const disputesPage = partListPage<ListedDispute>({
  name: 'disputes',
  title: 'Disputes',
  empty: 'No dispute here.',
  emptyHow: "A dispute appears when the Payment Service lists one. Answer it in the provider's console.",
  tabFilter: 'status',
  views: [
    ['Open', 'open'],
    ['Unknown status', 'unknown'],
    ['All', ''],
    ['Won', 'won'],
    ['Lost', 'lost'],
  ],
  filters: {
    currency: 'Currency',
    paymentToken: 'Payment',
    from: 'Opened from',
    to: 'Opened before',
  },
  list,
});
