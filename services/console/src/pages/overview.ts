/** Overview: everything abnormal on top, four figures of the last 24 hours, and the merchant accounts. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { outcomeSection } from '../components/notice.ts';
import { type Plot, percent, plot, rateOf, rateText } from '../components/plot.ts';
import { sign } from '../components/state.ts';
import { relative } from '../components/time.ts';
import type { Api } from '../api.ts';
import type { Page } from '../page.ts';
import { type Account, accountTable } from './accounts.ts';

type Overview = AnswerOf<'Overview'>;
type Hour = Overview['hours'][number];

type EndpointList = Pick<AnswerOf<'DisabledEndpointList'>, 'endpoints' | 'count'>;

/** In the singular and the plural. */
const countNames = {
  down: ['component is down', 'components are down'],
  circuits: ['open circuit', 'open circuits'],
  lag: ['second of lag in lists', 'seconds of lag in lists'],
  reviews: ['open review', 'open reviews'],
  payments: ['payment with an unknown outcome', 'payments with an unknown outcome'],
  payouts: ['payout with an unknown outcome', 'payouts with an unknown outcome'],
  approvals: ['payout to approve', 'payouts to approve'],
  disputes: ['open dispute', 'open disputes'],
  failed: ['undelivered webhook', 'undelivered webhooks'],
  retrying: ['webhook being retried', 'webhooks being retried'],
  disabled: ['disabled webhook endpoint', 'disabled webhook endpoints'],
  inactive: ['account not active', 'accounts not active'],
} as const;

export const overviewPage: Page = async ({ api, outcome, session }) => {
  const seesAll = mayDo(session.grants, 'operators:read', 'everywhere');
  const [overview, { accounts }, { reviews }, webhooks, notWorking] = await Promise.all([
    api.get<'Overview'>('/api/v1/admin/overview'),
    seesAll ? api.get<'AccountList'>('/api/v1/admin/accounts') : { accounts: [] },
    api.get<'OperatorReviewList'>('/api/v1/admin/reviews?perPage=1'),
    webhookTrouble(api),
    api.notWorking(),
  ]);
  const known = { overview, accounts, oldestReview: reviews[0]?.since, webhooks, notWorking };
  const main = html`<h1>Overview</h1>
    ${outcomeSection(outcome)}
    <section id="trouble" data-region="" aria-label="Abnormal">${band(abnormal(known))}</section>
    <section id="figures" class="figures" data-region="">${figures(overview, seesAll)}</section>
    ${seesAll ? accountSection(accounts) : undefined}`;
  return { title: 'Overview', main, isLive: true };
};

const accountSection = (accounts: readonly Account[]): Html =>
  html`<section id="accounts" data-region="" aria-labelledby="accounts-title">
    <h2 id="accounts-title">Merchant accounts</h2>
    ${accountTable(accounts)}
  </section>`;

/** Each count is undefined while the notifier catches up: a starting notifier must not hide the rest of the page. */
async function webhookTrouble(api: Api) {
  const known = async <Body>(path: string): Promise<Body | undefined> => {
    const answer = await api.call<Body>({ path: `/api/v1/admin/${path}` });
    return answer.kind === 'answer' ? answer.body : undefined;
  };
  const [failed, retrying, disabled] = await Promise.all([
    known<{ count: number }>('webhooks?perPage=1&status=failed'),
    known<{ count: number }>('webhooks?perPage=1&status=retrying'),
    known<EndpointList>('webhook-endpoints'),
  ]);
  return { failed: failed?.count, retrying: retrying?.count, disabled };
}

interface Known {
  overview: Overview;
  accounts: readonly Account[];
  oldestReview: string | undefined;
  webhooks: Awaited<ReturnType<typeof webhookTrouble>>;
  notWorking: readonly string[];
}

/** A number with a link to what it counts; hidden if it is 0. */
type Abnormal = readonly [
  tone: 'bad' | 'note',
  count: number,
  name: keyof typeof countNames,
  address: string,
  detail?: Html | string | undefined,
];

/** Older reads are reported. @unit milliseconds */
const lagMs = 5_000;

function abnormal({ overview, accounts, oldestReview, webhooks, notWorking }: Known): Abnormal[] {
  const { unresolved, unresolvedPayouts, payoutsToApprove, openDisputes, reviews } = overview;
  const { readModelLagMs = 0 } = overview;
  const { failed = 0, retrying = 0, disabled = { endpoints: [], count: 0 } } = webhooks;
  const broken = accounts.filter(({ circuit }) => circuit !== 'closed');
  const inactive = accounts.filter(({ state }) => state !== 'active');
  const namesOf = (of: readonly Account[]): string => of.map(({ account }) => account).join(', ');
  const since = oldestReview === undefined ? undefined : html`oldest ${relative(oldestReview)}`;
  const all: Abnormal[] = [
    ['bad', notWorking.length, 'down', '/readyz', notWorking.join(', ')],
    ['bad', broken.length, 'circuits', '/console/accounts', namesOf(broken)],
    ['bad', readModelLagMs > lagMs ? Math.round(readModelLagMs / 1_000) : 0, 'lag', '/readyz'],
    ['note', reviews, 'reviews', '/console/reviews', since],
    [
      'note',
      unresolved - unresolvedPayouts,
      'payments',
      '/console/payments?unresolved=true',
      'checked automatically',
    ],
    ['note', unresolvedPayouts, 'payouts', '/console/payouts?phase=unresolved', 'checked automatically'],
    ['note', payoutsToApprove, 'approvals', '/console/payouts'],
    ['note', openDisputes, 'disputes', '/console/disputes'],
    ['note', failed, 'failed', '/console/webhooks?status=failed'],
    ['note', retrying, 'retrying', '/console/webhooks?status=open'],
    ['note', disabled.count, 'disabled', '/console/webhooks?status=failed', namesOfEndpoints(disabled)],
    ['note', inactive.length, 'inactive', '/console/accounts', namesOf(inactive)],
  ];
  return all.filter(([, count]) => count > 0);
}

const namesOfEndpoints = ({ endpoints }: EndpointList): string =>
  endpoints
    .slice(0, 3)
    .map(({ team, environment, url }) => `${team} (${environment}) ${url}`)
    .join(', ');

function band(all: readonly Abnormal[]): Html {
  if (all.length === 0) return html`<p class="normal good">${sign('good')} Everything is normal.</p>`;
  const items = all.map(([tone, count, name, address, detail]) => {
    const [one, several] = countNames[name];
    return html`<li class="${tone}">
      <a href="${address}"><b>${countText(count)}</b> ${count === 1 ? one : several}</a>
      ${detail === undefined || detail === '' ? undefined : html`<small>${detail}</small>`}
    </li>`;
  });
  return html`<ul class="band">
    ${items}
  </ul>`;
}

const countText = (count: number): string => new Intl.NumberFormat('en').format(count);

function figures(overview: Overview, seesAll: boolean): Html[] {
  const { hours } = overview;
  const sum = (of: (hour: Hour) => number) => hours.reduce((all, hour) => all + of(hour), 0);
  const [approved, declined] = [sum((hour) => hour.approved), sum((hour) => hour.declined)];
  const lines = (...of: readonly (readonly [name: string, valueOf: (hour: Hour) => number | undefined])[]) =>
    of.map(([name, valueOf]) => ({ name, values: hours.map(valueOf) }));
  const drawn = { steps: hours.map(({ hour }) => hour) };
  const created = figure(
    'Payments created',
    countText(sum((hour) => hour.created)),
    '/console/payments?last=24h',
    { ...drawn, lines: lines(['Payments created', (hour) => hour.created]), format: countText },
  );
  const approval = figure('Approval rate', rateText(approved, declined), '/console/payments?last=24h', {
    ...drawn,
    lines: lines(['Approval rate', rateOf]),
    format: percent,
    top: 100,
  });
  const reviews = figure('Open reviews', countText(overview.reviews), '/console/reviews', {
    ...drawn,
    lines: lines(['Open reviews', (hour) => hour.openReviews]),
    format: countText,
  });
  if (!seesAll) return [created, approval, reviews];
  const latest = hours.findLast(({ ownMs }) => ownMs !== undefined);
  const value =
    latest === undefined ? '–' : `${[latest.ownMs, latest.providerMs].map(p99Text).join(' / ')} ms`;
  const times = figure('p99: gateway / provider', value, undefined, {
    ...drawn,
    lines: lines(
      ['Gateway', ({ ownMs }) => ownMs?.p99],
      ['Payment Service', ({ providerMs }) => providerMs?.p99],
    ),
    format: msText,
  });
  return [created, approval, times, reviews];
}

const p99Text = (spread: Hour['ownMs']): string => (spread === undefined ? '–' : roundText(spread.p99));

const roundText = (ms: number): string =>
  ms < 10 ? String(Number(ms.toFixed(1))) : countText(Math.round(ms));
const msText = (ms: number): string => `${roundText(ms)} ms`;

const figure = (
  name: string,
  value: string,
  address: string | undefined,
  drawn: Omit<Plot, 'description'>,
): Html =>
  html`<article class="figure">
    <h2>${name}</h2>
    <p class="value">${address === undefined ? value : html`<a href="${address}">${value}</a>`}</p>
    ${plot({ ...drawn, description: `${name}, by hour, last 24 hours` })}
  </article>`;
