/** The refunds of all teams; those in progress first. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { html } from '@tollgate/service-kit';
import {
  amountColumn,
  createdColumn,
  teamColumn,
  timeColumn,
  tokenColumn,
} from '../components/list-columns.ts';
import { partListPage, paymentLink, reviewChip } from '../components/part-list.ts';
import { chip } from '../components/state.ts';
import type { List } from '../components/table.ts';
import { texts } from '../texts.ts';

const words = texts.refunds;

type ListedRefund = AnswerOf<'OperatorRefundList'>['refunds'][number];

const { columns } = words;

const tones: Readonly<Record<string, string>> = { submitted: 'busy', unresolved: 'note', accepted: 'busy' };
const stateOf = (phase: string) =>
  tones[phase] === undefined ? chip(phase) : chip(words.phases[phase] ?? phase, tones[phase]);

const list: List<ListedRefund> = {
  name: 'refunds',
  label: words.title,
  keyOf: ({ token }) => token,
  hasDays: true,
  columns: [
    {
      id: 'refund',
      name: columns.token,
      width: 'token',
      use: 'always',
      cell: ({ token, paymentToken }) => paymentLink(paymentToken, token),
    },
    {
      id: 'state',
      name: columns.state,
      width: 'state',
      use: 'always',
      cell: ({ phase, reviews }) => html`${stateOf(phase)}${reviewChip(reviews)}`,
    },
    amountColumn(columns.amount),
    createdColumn(columns.created, ({ createdAt }) => createdAt),
    {
      id: 'reason',
      name: columns.why,
      isSecond: true,
      cell: ({ errors }) => errors.map(({ code }) => code).join(', '),
    },
    teamColumn(columns.team),
    timeColumn('changed', columns.changed, ({ updatedAt }) => updatedAt),
    tokenColumn('of', columns.payment, ({ paymentToken }) => paymentToken),
  ],
};

export const refundsPage = partListPage<ListedRefund>({
  name: 'refunds',
  words,
  tabFilter: 'status',
  views: [
    [words.views.open, 'pending'],
    [words.views.all, ''],
    [words.views.approved, 'approved'],
    [words.views.declined, 'declined'],
  ],
  textFilters: ['currency', 'paymentToken'],
  list,
});
