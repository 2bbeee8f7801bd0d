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

type ListedRefund = AnswerOf<'OperatorRefundList'>['refunds'][number];

const tones: Readonly<Record<string, string>> = { submitted: 'busy', unresolved: 'note', accepted: 'busy' };
const stateOf = (phase: string) =>
  tones[phase] === undefined ? chip(phase) : chip(texts.refundPhases[phase] ?? phase, tones[phase]);

const list: List<ListedRefund> = {
  name: 'refunds',
  label: 'Refunds',
  keyOf: ({ token }) => token,
  hasDays: true,
  columns: [
    {
      id: 'refund',
      name: 'Refund',
      width: 'token',
      use: 'always',
      cell: ({ token, paymentToken }) => paymentLink(paymentToken, token),
    },
    {
      id: 'state',
      name: 'State',
      width: 'state',
      use: 'always',
      cell: ({ phase, reviews }) => html`${stateOf(phase)}${reviewChip(reviews)}`,
    },
    amountColumn(),
    createdColumn('Requested', ({ createdAt }) => createdAt),
    {
      id: 'reason',
      name: 'Reason',
      isSecond: true,
      cell: ({ errors }) => errors.map(({ code }) => code).join(', '),
    },
    teamColumn(),
    timeColumn('changed', 'Last change', ({ updatedAt }) => updatedAt),
    tokenColumn('of', 'Payment', ({ paymentToken }) => paymentToken),
  ],
};

export const refundsPage = partListPage<ListedRefund>({
  name: 'refunds',
  title: 'Refunds',
  empty: 'No refund here.',
  emptyHow:
    'No refund has this state and these filters. Refunds made at the Payment Service appear in their payment.',
  tabFilter: 'status',
  views: [
    ['Under way', 'pending'],
    ['All', ''],
    ['Approved', 'approved'],
    ['Declined', 'declined'],
  ],
  filters: {
    currency: 'Currency',
    paymentToken: 'Payment',
    from: 'Requested from',
    to: 'Requested before',
  },
  list,
});
