/** Is anything stuck, whose fault is it, what do I do? What is not normal stands above what is. */
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { bars } from '../components/bars.ts';
import { factList } from '../components/facts.ts';
import { outcomeNotice } from '../components/notice.ts';
import { sign } from '../components/state.ts';
import { relative } from '../components/time.ts';
import type { Api } from '../api.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';
import { type Account, accountTable } from './accounts.ts';

interface Hour {
  hour: string;
  created: number;
  approved: number;
  declined: number;
}

interface Spread {
  p50: number;
  p99: number;
}

interface Minute {
  minute: string;
  created: number;
  ownMs?: Spread;
  providerMs?: Spread;
}

interface Overview {
  hours: Hour[];
  minutes: Minute[];
  readModelLagMs?: number;
  unresolved: number;
  unresolvedPayouts: number;
  reviews: number;
}

interface DisabledEndpoint {
  team: string;
  environment: string;
  url: string;
  disabledAt?: string;
}

/** Undefined while the notifier reads what there is. */
interface WebhookTrouble {
  failed: number | undefined;
  open: number | undefined;
  disabled: readonly DisabledEndpoint[] | undefined;
}

interface ReviewList {
  reviews: readonly { since: string; environment: string }[];
  count: number;
}

const words = texts.overview;

export const overviewPage: Page = async ({ api, outcome, session }) => {
  const seesAll = mayDo(session.grants, 'operators:read', 'everywhere');
  const [overview, { accounts }, reviews, webhooks, notWorking] = await Promise.all([
    api.get<Overview>('/api/v1/admin/overview'),
    seesAll ? api.get<{ accounts: Account[] }>('/api/v1/admin/accounts') : { accounts: [] },
    api.get<ReviewList>('/api/v1/admin/reviews?perPage=1'),
    webhookTrouble(api),
    api.notWorking(),
  ]);
  const main = html`<h1>${words.title}</h1>
    ${outcome === undefined ? undefined : outcomeNotice(outcome)}
    <section id="trouble" data-region="">
      ${troubles({ overview, accounts, reviews, webhooks, notWorking })}
    </section>
    <section id="figures" class="figures" data-region="">
      ${figures(overview)}${seesAll ? latestFigures(overview) : undefined}
    </section>
    ${seesAll ? accountSection(accounts) : undefined}
    <section id="webhooks" data-region="" aria-labelledby="webhooks-title">
      <h2 id="webhooks-title">${texts.nav.webhooks}</h2>
      ${webhookFacts(webhooks)}
    </section>`;
  return { title: words.title, main, isLive: true };
};

const accountSection = (accounts: readonly Account[]): Html =>
  html`<section id="accounts" data-region="" aria-labelledby="accounts-title">
    <h2 id="accounts-title">${words.accounts}</h2>
    ${accountTable(accounts)}
  </section>`;

/** What the notifier cannot say yet keeps nobody from the rest of the page. */
async function webhookTrouble(api: Api): Promise<WebhookTrouble> {
  const known = async <Body>(path: string): Promise<Body | undefined> => {
    const answer = await api.call<Body>({ path: `/api/v1/admin/${path}` });
    return answer.kind === 'answer' ? answer.body : undefined;
  };
  const [failed, open, endpoints] = await Promise.all([
    known<{ count: number }>('webhooks?perPage=1&status=failed'),
    known<{ count: number }>('webhooks?perPage=1&status=retrying'),
    known<{ endpoints: DisabledEndpoint[] }>('webhook-endpoints'),
  ]);
  return { failed: failed?.count, open: open?.count, disabled: endpoints?.endpoints };
}

interface Known {
  overview: Overview;
  accounts: readonly Account[];
  reviews: ReviewList;
  webhooks: WebhookTrouble;
  notWorking: readonly string[];
}

/** Everything that is not normal, each with where it leads. */
function troubles(known: Known): Html {
  const notNormal = [
    ...known.notWorking.map((name) => trouble('bad', html`${words.notWorking}: <code>${name}</code>.`)),
    ...accountTroubles(known.accounts),
    ...reviewTroubles(known.reviews),
    ...unresolvedTroubles(known.overview),
    ...webhookTroubles(known.webhooks),
  ];
  return notNormal.length === 0
    ? html`<p class="normal good">${sign('good')} ${words.normal}</p>`
    : html`<ul class="troubles">
        ${notNormal}
      </ul>`;
}

const accountTroubles = (accounts: readonly Account[]): Html[] => [
  ...accounts
    .filter(({ circuit }) => circuit !== 'closed')
    .map(({ account, environment, circuit }) =>
      trouble('bad', html`Account ${account} (${environment}): circuit ${words.circuits[circuit]}.`),
    ),
  ...accounts
    .filter(({ state }) => state !== 'active')
    .map(({ account, environment, state }) =>
      trouble('note', html`Account <a href="/console/accounts">${account}</a> (${environment}) is ${state}.`),
    ),
];

function reviewTroubles({ reviews: [oldest], count }: ReviewList): Html[] {
  if (oldest === undefined) return [];
  const text = html`<a href="/console/reviews"
      >${countText(count)} ${count === 1 ? 'review waits' : 'reviews wait'} for a person</a
    >, the oldest of ${oldest.environment} since ${relative(oldest.since)}.`;
  return [trouble('note', text)];
}

function unresolvedTroubles({ unresolved, unresolvedPayouts }: Overview): Html[] {
  const payments = unresolved - unresolvedPayouts;
  const counted = (count: number, one: string, address: string): Html | undefined =>
    count === 0
      ? undefined
      : html`<a href="${address}">${countText(count)} ${one}${count === 1 ? '' : 's'}</a>`;
  const both = [
    counted(payments, 'payment', unresolvedPayments),
    counted(unresolvedPayouts, 'payout', '/console/payouts?phase=unresolved'),
  ].filter((each) => each !== undefined);
  if (both.length === 0) return [];
  const [first, second] = both;
  const who = second === undefined ? first : html`${first} and ${second}`;
  return [trouble('note', html`${who} ${unresolved === 1 ? 'has' : 'have'} ${words.unknownOutcome}`)];
}

const unresolvedPayments = '/console/payments?unresolved=true';

const webhookTroubles = ({ failed = 0, disabled = [] }: WebhookTrouble): Html[] => [
  ...(failed === 0
    ? []
    : [
        trouble(
          'note',
          html`<a href="/console/webhooks">${words.webhooksFailed(failed)}</a> ${words.replayThem}`,
        ),
      ]),
  ...disabled.map(({ team, environment, url, disabledAt }) =>
    trouble(
      'note',
      html`${words.endpointDisabled(team, environment)}
        <code>${url}</code> ${disabledAt === undefined ? undefined : relative(disabledAt)}.`,
    ),
  ),
];

const trouble = (tone: string, text: Html): Html =>
  html`<li class="notice ${tone}">
    ${sign(tone)}
    <p>${text}</p>
  </li>`;

const countText = (count: number): string => new Intl.NumberFormat('en').format(count);

function figures({ hours, unresolved, reviews }: Overview): Html[] {
  const sum = (of: (hour: Hour) => number) => hours.reduce((all, hour) => all + of(hour), 0);
  const [approved, declined] = [sum((hour) => hour.approved), sum((hour) => hour.declined)];
  const decided = approved + declined;
  const rate = decided === 0 ? '–' : `${((100 * approved) / decided).toFixed(1)} %`;
  const created = bars(
    hours.map(({ hour, created: value }) => ({ label: `${hour.slice(11, 16)} UTC: ${value}`, value })),
    `${words.created}, ${words.perHour}`,
  );
  const share = bars(
    hours.map(({ hour, approved: part, declined: other }) => ({
      label: `${hour.slice(11, 16)} UTC: ${part} approved, ${other} declined`,
      value: part + other,
      part,
    })),
    `${words.approved}, ${words.declined}, ${words.perHour}`,
  );
  return [
    figure(
      words.created,
      countText(sum((hour) => hour.created)),
      '/console/payments?last=24h',
      words.perHour,
      created,
    ),
    figure(words.approval, rate, '/console/payments?phase=declined&last=24h', words.approvalHelp, share),
    figure(words.unresolved, countText(unresolved), unresolvedPayments, words.unresolvedHelp),
    figure(words.reviews, countText(reviews), '/console/reviews', words.reviewsHelp),
  ];
}

/** Minutes that the figure of creations is the mean of: whole ones. */
const meanOverMinutes = 5;

/** What goes on right now: how much, how fast, and how far behind. */
function latestFigures({ minutes, readModelLagMs }: Overview): Html[] {
  const whole = minutes.slice(-1 - meanOverMinutes, -1);
  const perSecond = whole.reduce((sum, { created }) => sum + created, 0) / (meanOverMinutes * 60);
  const created = minutes.map(({ minute, created: value }) => ({ label: labelOf(minute, value), value }));
  return [
    figure(
      words.perSecond,
      perSecond === 0 ? '0' : perSecond.toPrecision(2),
      '/console/payments?last=1h',
      words.perMinute,
      bars(created, `${words.perSecond}, ${words.perMinute}`),
    ),
    timesFigure(words.ownTime, words.ownTimeHelp, minutes, ({ ownMs }) => ownMs),
    timesFigure(words.providerTime, words.providerTimeHelp, minutes, ({ providerMs }) => providerMs),
    figure(
      words.lag,
      readModelLagMs === undefined ? '–' : `${(readModelLagMs / 1_000).toFixed(1)} s`,
      undefined,
      words.lagHelp,
    ),
  ];
}

function timesFigure(
  name: string,
  about: string,
  minutes: readonly Minute[],
  spreadOf: (minute: Minute) => Spread | undefined,
): Html {
  const latest = minutes.slice(-meanOverMinutes).findLast((minute) => spreadOf(minute) !== undefined);
  const spread = latest && spreadOf(latest);
  const value = spread === undefined ? '–' : `${msText(spread.p50)} / ${msText(spread.p99)} ms`;
  const columns = minutes.map((minute) => {
    const { p50, p99 } = spreadOf(minute) ?? { p50: 0, p99: 0 };
    const label = labelOf(minute.minute, `${msText(p50)} / ${msText(p99)} ms`);
    return { label, value: p99, part: p50 };
  });
  return figure(name, value, undefined, about, bars(columns, `${name}, ${words.perMinute}`));
}

const msText = (ms: number): string => (ms < 10 ? ms.toFixed(1) : countText(Math.round(ms)));
const labelOf = (minute: string, value: string | number): string => `${minute.slice(11, 16)} UTC: ${value}`;

const figure = (
  name: string,
  value: string,
  address: string | undefined,
  about: string,
  lines?: Html,
): Html =>
  html`<article class="figure">
    <h2>${name}</h2>
    <p class="value">${address === undefined ? value : html`<a href="${address}">${value}</a>`}</p>
    ${lines}
    <p class="calm">${about}</p>
  </article>`;

/** Each number leads to what it counts. */
function webhookFacts({ failed, open, disabled }: WebhookTrouble): Html {
  const counted = (count: number | undefined, status: string) =>
    count === undefined
      ? words.notCounted
      : html`<a href="/console/webhooks?status=${status}">${countText(count)}</a>`;
  return factList([
    [words.webhooks.failed, counted(failed, 'failed')],
    [words.webhooks.open, counted(open, 'open')],
    [words.webhooks.disabled, disabled === undefined ? words.notCounted : countText(disabled.length)],
  ]);
}
