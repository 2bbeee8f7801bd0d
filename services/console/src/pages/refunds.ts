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
import { partListPage } from '../components/part-list.ts';
import { reviewChip } from '../components/payment-list.ts';
import { chip } from '../components/state.ts';
import { column } from '../components/table.ts';
import { operationLink } from '../components/token.ts';
import { texts } from '../texts.ts';

type ListedRefund = AnswerOf<'OperatorRefundList'>['refunds'][number];

const tones: Readonly<Record<string, string>> = { submitted: 'busy', unresolved: 'note', accepted: 'busy' };
const stateOf = (phase: string) =>
  tones[phase] === undefined ? chip(phase) : chip(texts.refundPhases[phase] ?? phase, tones[phase]);
const stateCell = ({ phase, reviews }: ListedRefund) => html`${stateOf(phase)}${reviewChip(reviews)}`;

export const refundsPage = partListPage<ListedRefund>({
  name: 'refunds',
  title: 'Refunds',
  none: 'No refund here.',
  noneHow:
    'No refund has this state and these filters. Refunds made at the Payment Service appear in their payment.',
  tabFilter: 'status',
  views: [
    ['Under way', 'pending'],
    ['All', ''],
    ['Approved', 'approved'],
    ['Declined', 'declined'],
  ],
  texts: ['currency', 'paymentToken'],
  list: {
    name: 'refunds',
    label: 'Refunds',
    keyOf: ({ token }) => token,
    hasDays: true,
    columns: [
      column('refund', 'Refund', ({ token, paymentToken }) => operationLink(paymentToken, token), {
        width: 'token',
        use: 'always',
      }),
      column('state', 'State', stateCell, { width: 'state', use: 'always' }),
      amountColumn(),
      createdColumn('Requested', ({ createdAt }) => createdAt),
      column('reason', 'Reason', ({ errors }) => errors.map(({ code }) => code).join(', '), {
        isSecond: true,
      }),
      teamColumn(),
      timeColumn('changed', 'Last change', ({ updatedAt }) => updatedAt),
      tokenColumn('of', 'Payment', ({ paymentToken }) => paymentToken),
    ],
  },
});
