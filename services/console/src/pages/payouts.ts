/** The payouts of all teams: first those that wait for an approval. */
import { type Html, html } from '@tollgate/service-kit';
import { amount } from '../components/amount.ts';
import { chip } from '../components/state.ts';
import { pager, rowTable, tabs } from '../components/table.ts';
import { timeInColumn, zone } from '../components/time.ts';
import { shortToken } from '../components/token.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.payouts;
const perPage = 50;

/** As the API lists it. */
export interface ListedPayout {
  token: string;
  team: string;
  environment: string;
  phase: string;
  amount: number;
  currency: string;
  orderNumber?: string;
  destination: Destination;
  approval?: { askedBy: string; grantedBy?: string; lapsesAt: string };
  createdAt: string;
  revision: number;
}
type Destination =
  | { kind: 'card'; sanitizedMask: string }
  | { kind: 'recurring'; recurringToken: string }
  | { kind: 'bankAccount'; bankName: string; accountEnding: string };

export const payoutPath = (token: string): string => `/console/payouts/${encodeURIComponent(token)}`;

export function destinationText(destination: Destination): string {
  const { card, recurring, bankAccount } = words.destinations;
  if (destination.kind === 'card') return card(destination.sanitizedMask);
  if (destination.kind === 'recurring') return recurring;
  return bankAccount(destination.bankName, destination.accountEnding);
}

/** By their phases; the first is what there is to do. */
const views = [
  ['waiting', 'awaiting_approval'],
  ['all', ''],
  ['unresolved', 'unresolved'],
  ['pending', 'pending'],
  ['failed', 'failed'],
] as const;
const addressOf = (phase: string): string => `/console/payouts?phase=${phase}`;

export const payoutsPage: Page = async ({ api, query }) => {
  const phase = query.get('phase') ?? 'awaiting_approval';
  const asked = new URLSearchParams({ perPage: String(perPage), ...(phase === '' ? {} : { phase }) });
  for (const name of ['team', 'environment', 'cursor']) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  const { payouts, nextCursor } = await api.get<{ payouts: ListedPayout[]; nextCursor?: string }>(
    `/api/v1/admin/payouts?${asked.toString()}`,
  );
  const main = html`<h1>${words.title}</h1>
    ${tabs(
      words.title,
      addressOf(phase),
      views.map(([name, each]) => [words.views[name], addressOf(each)]),
    )}
    <section id="payouts" data-region="">
      ${payouts.length === 0 ? none : payoutTable(payouts)} ${pager('/console/payouts', query, nextCursor)}
    </section>`;
  return { title: words.title, main, isLive: query.get('cursor') === null };
};

const none = html`<p class="empty">${words.empty} <span class="calm">${words.emptyHow}</span></p>`;

function payoutTable(payouts: readonly ListedPayout[]): Html {
  const { columns } = words;
  return rowTable(
    words.title,
    [
      { name: html`${columns.created} ${zone}` },
      { name: columns.state },
      { name: columns.amount, isNumber: true },
      { name: columns.destination },
      { name: columns.order, isSecond: true },
      { name: columns.team },
      { name: columns.askedBy, isSecond: true },
      { name: columns.token },
    ],
    payouts.map(payoutRow),
  );
}

function payoutRow(payout: ListedPayout): Html {
  const { token, createdAt, phase, currency, orderNumber, team, environment, approval } = payout;
  const mode =
    environment === 'sandbox' ? undefined : html` <small class="production">${environment}</small>`;
  return html`<tr data-row="">
    <td>${timeInColumn(createdAt)}</td>
    <td>${chip(phase)}</td>
    <td class="number">${amount(payout.amount, currency)}</td>
    <td class="text">${destinationText(payout.destination)}</td>
    <td class="text second">${orderNumber}</td>
    <td>${team}${mode}</td>
    <td class="second">${approval === undefined ? undefined : html`<code>${approval.askedBy}</code>`}</td>
    <td>
      <a href="${payoutPath(token)}" title="${token}"><code>${shortToken(token)}</code></a>
    </td>
  </tr>`;
}
