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

const words = texts.disputes;

type ListedDispute = AnswerOf<'OperatorDisputeList'>['disputes'][number];

const { columns } = words;

const tones: Readonly<Record<string, string>> = { open: 'note', unknown: 'note', won: 'good', lost: 'bad' };

function stateCell({ status, reportedStatus }: ListedDispute): Html {
  const reported = status === 'unknown' ? html` <small>${reportedStatus}</small>` : undefined;
  return html`<span title="${reportedStatus}">${chip(words.states[status] ?? status, tones[status])}</span
    >${reported}`;
}

const list: List<ListedDispute> = {
  name: 'disputes',
  label: words.title,
  keyOf: ({ id }) => id,
  hasDays: true,
  columns: [
    {
      id: 'id',
      name: columns.id,
      use: 'always',
      cell: ({ id, paymentToken }) => paymentLink(paymentToken, id),
    },
    { id: 'state', name: columns.state, width: 'state', use: 'always', cell: stateCell },
    amountColumn(columns.amount),
    createdColumn(columns.created, ({ createdAt }) => createdAt),
    { id: 'reason', name: columns.reason, isSecond: true, cell: ({ reasonCode }) => reasonCode },
    teamColumn(columns.team),
    timeColumn('changed', columns.changed, ({ updatedAt }) => updatedAt),
    tokenColumn('of', columns.payment, ({ paymentToken = '' }) => paymentToken),
  ],
};

export const disputesPage = partListPage<ListedDispute>({
  name: 'disputes',
  words,
  tabFilter: 'status',
  views: [
    [words.views.open, 'open'],
    [words.views.unknown, 'unknown'],
    [words.views.all, ''],
    [words.views.won, 'won'],
    [words.views.lost, 'lost'],
  ],
  textFilters: ['currency', 'paymentToken'],
  list,
});
