/** The payments of all teams: filters, views and pages are in the address, so that a link shows the same to a colleague. */
import { type Html, html } from '@tollgate/service-kit';
import { parseAmount } from '../components/amount.ts';
import { type ListedPayment, paymentTable } from '../components/payment-list.ts';
import { phaseName } from '../components/state.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const perPage = 50;
const { filters: words } = texts.payments;

/** By name in the address. */
const filterNames = [
  ...['phase', 'team', 'environment', 'currency', 'orderNumber', 'last', 'amountFrom', 'amountTo'],
  ...['sanitizedMask', 'account', 'status', 'needsReview', 'before'],
] as const;

const lastMs: Readonly<Record<string, number>> = {
  ...{ '30m': 30 * 60_000, '1h': 3_600_000, '4h': 4 * 3_600_000, '24h': 24 * 3_600_000 },
  '7d': 7 * 24 * 3_600_000,
};

/** What is asked most; each is nothing but an address. */
const views = [
  ['all', ''],
  ['open', 'phase=init'],
  ['unresolved', 'phase=unresolved'],
  ['stuck', 'phase=unresolved&before=1h'],
  ['reviews', 'needsReview=true'],
  ['declined', 'phase=declined&last=24h'],
] as const;

interface PaymentList {
  payments: ListedPayment[];
  nextCursor?: string;
}

export const paymentsPage: Page = async ({ api, query, now, hasSandbox }) => {
  const asked = filterNames.filter((name) => (query.get(name) ?? '') !== '');
  const [list, { teams }] = await Promise.all([
    api.get<PaymentList>(`/api/v1/admin/payments?${toApiQuery(query, now).toString()}`),
    api.get<{ teams: string[] }>('/api/v1/admin/teams'),
  ]);
  const main = html`<div class="head">
      <h1>${texts.payments.title}</h1>
      ${csvLink(query)}
    </div>
    ${viewLinks(query)} ${filterForm(query, teams)}
    <section id="payments" data-region="">
      ${list.payments.length === 0 ? nothing(query, asked, hasSandbox) : paymentTable(list.payments)}
      ${pager(query, list)}
    </section>`;
  return { title: texts.payments.title, main, isLive: query.get('cursor') === null };
};

/** What the API is asked; ranges of time count from now, amounts are whole units of the currency. */
function toApiQuery(query: URLSearchParams, now: number): URLSearchParams {
  const asked = new URLSearchParams({ perPage: String(perPage) });
  const same = ['phase', 'team', 'environment', 'currency', 'orderNumber', 'sanitizedMask', 'account'];
  for (const name of [...same, 'status', 'needsReview', 'cursor']) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  const currency = query.get('currency') ?? '';
  for (const name of ['amountFrom', 'amountTo']) {
    const text = query.get(name) ?? '';
    // What is no amount goes as it is, so that the API names it.
    if (text !== '') asked.set(name, String(parseAmount(text, currency === '' ? 'EUR' : currency) ?? text));
  }
  const span = lastMs[query.get('last') ?? ''];
  const age = lastMs[query.get('before') ?? ''];
  // By the minute, so that a page that is loaded again asks the same.
  const minute = Math.floor(now / 60_000) * 60_000;
  if (span !== undefined) asked.set('createdFrom', new Date(minute - span).toISOString());
  if (age !== undefined) asked.set('createdBefore', new Date(minute - age).toISOString());
  return asked;
}

function viewLinks(query: URLSearchParams): Html {
  const here = new URLSearchParams([...query].filter(([name]) => name !== 'cursor')).toString();
  const links = views.map(([name, address]) => {
    const current = here === address ? html` aria-current="true"` : undefined;
    return html`<a href="/console/payments${address === '' ? '' : `?${address}`}" ${current}
      >${texts.payments.views[name]}</a
    >`;
  });
  return html`<nav class="views" aria-label="Views">${links}</nav>`;
}

const phases = Object.keys(texts.phases);

function filterForm(query: URLSearchParams, teams: readonly string[]): Html {
  const value = (name: string) => query.get(name) ?? '';
  const hidden = ['amountFrom', 'amountTo', 'sanitizedMask', 'account', 'currency', 'environment'];
  const isOpen = hidden.some((name) => value(name) !== '') ? html` open` : undefined;
  return html`<form class="filters" action="/console/payments">
    ${choice(
      'phase',
      words.phase,
      value('phase'),
      phases.map((phase) => [phase, phaseName(phase)]),
    )}
    ${choice(
      'team',
      words.team,
      value('team'),
      teams.map((team) => [team, team]),
    )}
    ${choice('last', words.last, value('last'), Object.entries(texts.payments.last).slice(1))}
    ${entry('orderNumber', words.orderNumber, value('orderNumber'))}
    <details ${isOpen}>
      <summary>${words.more}</summary>
      <div class="more">
        ${entry('amountFrom', words.amountFrom, value('amountFrom'), 'decimal')}
        ${entry('amountTo', words.amountTo, value('amountTo'), 'decimal')}
        ${entry('currency', words.currency, value('currency'))}
        ${entry('sanitizedMask', words.sanitizedMask, value('sanitizedMask'), 'numeric')}
        ${entry('account', words.account, value('account'))}
        ${choice('environment', words.environment, value('environment'), [
          ['production', 'production'],
          ['sandbox', 'sandbox'],
        ])}
      </div>
    </details>
    <button>${words.apply}</button>
  </form>`;
}

function choice(
  name: string,
  label: string,
  chosen: string,
  options: readonly (readonly [string, string])[],
): Html {
  const shown = options.map(([value, text]) => {
    const selected = value === chosen ? html` selected` : undefined;
    return html`<option value="${value}" ${selected}>${text}</option>`;
  });
  return html`<label
    >${label}<select name="${name}">
      <option value="">${words.any}</option>
      ${shown}
    </select></label
  >`;
}

const entry = (name: string, label: string, value: string, mode = 'text'): Html =>
  html`<label
    >${label}<input name="${name}" value="${value}" inputmode="${mode}" maxlength="255" autocomplete="off"
  /></label>`;

/** Says which filters hide everything, with a way out. */
function nothing(query: URLSearchParams, asked: readonly string[], hasSandbox: boolean): Html {
  if (asked.length === 0) {
    const sandbox = hasSandbox
      ? html` <a href="/console/sandbox">${texts.payments.emptySandbox}</a>`
      : undefined;
    return html`<p class="empty">${texts.payments.empty} ${texts.payments.emptyHow}${sandbox}</p>`;
  }
  const named = asked.map((name) => {
    const without = new URLSearchParams(query);
    without.delete(name);
    without.delete('cursor');
    const value = query.get(name) ?? '';
    return html`<a class="filter" href="/console/payments?${without.toString()}" title="${words.clear}"
      >${name}: ${value} <span aria-hidden="true">×</span></a
    >`;
  });
  return html`<p class="empty">${texts.payments.hidden} ${named}</p>`;
}

function pager(query: URLSearchParams, { nextCursor }: PaymentList): Html {
  const to = (cursor?: string) => {
    const next = new URLSearchParams(query);
    next.delete('cursor');
    if (cursor !== undefined) next.set('cursor', cursor);
    return `/console/payments?${next.toString()}`;
  };
  const newest =
    query.get('cursor') === null ? undefined : html`<a href="${to()}">${texts.payments.newest}</a>`;
  const older =
    nextCursor === undefined
      ? undefined
      : html`<a rel="next" href="${to(nextCursor)}">${texts.payments.older}</a>`;
  return html`<nav class="pager" aria-label="Pages">${newest}${older}</nav>`;
}

/** The file is a team's own, of one environment, as the API gives it. */
function csvLink(query: URLSearchParams): Html | undefined {
  const [team, environment] = [query.get('team') ?? '', query.get('environment') ?? ''];
  if (team === '') return undefined;
  const asked = new URLSearchParams({ team, environment: environment === '' ? 'production' : environment });
  for (const name of ['phase', 'orderNumber', 'currency', 'needsReview']) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  return html`<a
    class="button"
    href="/console/payments.csv?${asked.toString()}"
    title="${texts.payments.csvTitle}"
    download
    >${texts.payments.csv}</a
  >`;
}
