/** The payouts of all teams; those awaiting approval first. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { html } from '@tollgate/service-kit';
import { amountColumn, createdColumn, teamColumn, tokenColumn } from '../components/list-columns.ts';
import { partListPage } from '../components/part-list.ts';
import { chip } from '../components/state.ts';
import type { List } from '../components/table.ts';
import { texts } from '../texts.ts';

const words = texts.payouts;

export type ListedPayout = AnswerOf<'OperatorPayoutList'>['payouts'][number];

export const payoutPath = (token: string): string => `/console/payouts/${encodeURIComponent(token)}`;

export function destinationText(destination: ListedPayout['destination']): string {
  const { card, recurring, bankAccount } = words.destinations;
  if (destination.kind === 'card') return card(destination.sanitizedMask);
  if (destination.kind === 'recurring') return recurring;
  return bankAccount(destination.bankName, destination.accountEnding);
}

const { columns } = words;

const list: List<ListedPayout> = {
  name: 'payouts',
  label: words.title,
  keyOf: ({ token }) => token,
  hasDays: true,
  columns: [
    {
      id: 'order',
      name: columns.order,
      use: 'always',
      cell: ({ token, orderNumber }) =>
        html`<a href="${payoutPath(token)}" title="${orderNumber} ${token}">${orderNumber}</a>`,
    },
    { id: 'state', name: columns.state, width: 'chip', use: 'always', cell: ({ phase }) => chip(phase) },
    amountColumn(columns.amount),
    createdColumn(columns.created, ({ createdAt }) => createdAt),
    { id: 'destination', name: columns.destination, cell: ({ destination }) => destinationText(destination) },
    teamColumn(columns.team),
    {
      id: 'asked',
      name: columns.askedBy,
      width: 'word',
      isSecond: true,
      cell: ({ approval }) => approval?.askedBy,
    },
    { ...tokenColumn('token', columns.token, ({ token }: ListedPayout) => token), use: 'asked' },
  ],
};

export const payoutsPage = partListPage<ListedPayout>({
  name: 'payouts',
  words,
  tabFilter: 'phase',
  views: [
    [words.views.waiting, 'awaiting_approval'],
    [words.views.all, ''],
    [words.views.unresolved, 'unresolved'],
    [words.views.pending, 'pending'],
    [words.views.failed, 'failed'],
  ],
  textFilters: ['orderNumber', 'currency'],
  list,
  hasFile: false,
});
