/** The payouts of all teams; those awaiting approval first. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { html } from '@tollgate/service-kit';
import { amountColumn, createdColumn, teamColumn, tokenColumn } from '../components/list-columns.ts';
import { partListPage } from '../components/part-list.ts';
import { chip } from '../components/state.ts';
import type { List } from '../components/table.ts';

export type ListedPayout = AnswerOf<'OperatorPayoutList'>['payouts'][number];

export const payoutPath = (token: string): string => `/console/payouts/${encodeURIComponent(token)}`;

export function destinationText(destination: ListedPayout['destination']): string {
  if (destination.kind === 'card') return `card •••• ${destination.sanitizedMask.slice(-4)}`;
  if (destination.kind === 'recurring') return 'recurring token';
  return `${destination.bankName} …${destination.accountEnding}`;
}

const list: List<ListedPayout> = {
  name: 'payouts',
  label: 'Payouts',
  keyOf: ({ token }) => token,
  hasDays: true,
  columns: [
    {
      id: 'order',
      name: 'Order number',
      use: 'always',
      cell: ({ token, orderNumber }) =>
        html`<a href="${payoutPath(token)}" title="${orderNumber} ${token}">${orderNumber}</a>`,
    },
    { id: 'state', name: 'State', width: 'chip', use: 'always', cell: ({ phase }) => chip(phase) },
    amountColumn(),
    createdColumn('Created', ({ createdAt }) => createdAt),
    { id: 'destination', name: 'To', cell: ({ destination }) => destinationText(destination) },
    teamColumn(),
    {
      id: 'asked',
      name: 'Requested by',
      width: 'word',
      isSecond: true,
      cell: ({ approval }) => approval?.askedBy,
    },
    { ...tokenColumn('token', 'Token', ({ token }: ListedPayout) => token), use: 'asked' },
  ],
};

export const payoutsPage = partListPage<ListedPayout>({
  name: 'payouts',
  title: 'Payouts',
  empty: 'No payout here.',
  emptyHow: "A payout appears here if its amount is above the team's approval limit.",
  tabFilter: 'phase',
  views: [
    ['Awaiting approval', 'awaiting_approval'],
    ['All', ''],
    ['Unresolved', 'unresolved'],
    ['Pending', 'pending'],
    ['Failed', 'failed'],
  ],
  filters: {
    orderNumber: 'Order number',
    currency: 'Currency',
    from: 'Created from',
    to: 'Created before',
  },
  list,
  hasFile: false,
});
