/** The payouts of all teams; those awaiting approval first. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { html } from '@tollgate/service-kit';
import { amountColumn, createdColumn, teamColumn, tokenColumn } from '../components/list-columns.ts';
import { partListPage } from '../components/part-list.ts';
import { chip } from '../components/state.ts';
import { column } from '../components/table.ts';
import { operationPath } from '../components/token.ts';

export type ListedPayout = AnswerOf<'OperatorPayoutList'>['payouts'][number];

export function destinationText(destination: ListedPayout['destination']): string {
  if (destination.kind === 'card') return `card •••• ${destination.sanitizedMask.slice(-4)}`;
  if (destination.kind === 'recurring') return 'recurring token';
  return `${destination.bankName} …${destination.accountEnding}`;
}

const orderCell = ({ token, orderNumber }: ListedPayout) =>
  html`<a href="${operationPath(token)}" title="${orderNumber} ${token}">${orderNumber}</a>`;

export const payoutsPage = partListPage<ListedPayout>({
  name: 'payouts',
  title: 'Payouts',
  none: 'No payout here.',
  noneHow: "A payout appears here if its amount is above the team's approval limit.",
  tabFilter: 'phase',
  views: [
    ['Awaiting approval', 'awaiting_approval'],
    ['All', ''],
    ['Unresolved', 'unresolved'],
    ['Pending', 'pending'],
    ['Failed', 'failed'],
  ],
  texts: ['orderNumber', 'currency'],
  list: {
    name: 'payouts',
    label: 'Payouts',
    keyOf: ({ token }) => token,
    hasDays: true,
    columns: [
      column('order', 'Order number', orderCell, { use: 'always' }),
      column('state', 'State', ({ phase }) => chip(phase), { width: 'chip', use: 'always' }),
      amountColumn(),
      createdColumn('Created', ({ createdAt }) => createdAt),
      column('destination', 'To', ({ destination }) => destinationText(destination)),
      teamColumn(),
      column('asked', 'Requested by', ({ approval }) => approval?.askedBy, { width: 'word', isSecond: true }),
      tokenColumn('token', 'Token', ({ token }) => token, { use: 'asked' }),
    ],
  },
  hasFile: false,
});
