/** The inbox over all teams, production before the sandbox and each oldest first; and one review, with what is known and what each decision does. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo } from '@tollgate/teams';
import { amount, amountText } from '../components/amount.ts';
import { type Fact, factList } from '../components/facts.ts';
import { outcomeSection, refusedOutcome, reviewTitle } from '../components/notice.ts';
import { paymentPath } from '../components/payment-list.ts';
import { chip, sign } from '../components/state.ts';
import { pager } from '../components/table.ts';
import { relative, time, timeOfDay } from '../components/time.ts';
import { copyable, shortToken } from '../components/token.ts';
import type { TimelineEvent } from '../components/timeline-items.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { eventSentences, texts } from '../texts.ts';
import { payoutPath } from './payouts.ts';

interface Review {
  token: string;
  kind: 'payment' | 'payout' | 'unmatched';
  code: string;
  number: number;
  since: string;
  evidence: Readonly<Record<string, string>>;
  resolutions: readonly string[];
  /** Where it takes two persons: what the first one has answered. */
  proposal?: { resolution: string; reason: string; proposedAt: string };
  proposedBy?: string;
  team: string;
  environment: string;
  amount: number;
  currency: string;
  status: string;
  phase?: string;
  orderNumber?: string;
}

interface ReviewList {
  reviews: readonly Review[];
  /** All that are open. */
  count: number;
  nextCursor?: string;
}

const perPage = 100;
const path = '/console/reviews';

const readReviews = (
  { api }: Pick<PageContext, 'api'>,
  asked: Readonly<Record<string, string>>,
): Promise<ReviewList> =>
  api.get<ReviewList>(`/api/v1/admin/reviews?${new URLSearchParams(asked).toString()}`);

const pathOf = ({ token, code, number }: Pick<Review, 'token' | 'code' | 'number'>): string =>
  `${path}/${encodeURIComponent(token)}/${encodeURIComponent(code)}/${number}`;

export const reviewsPage: Page = async (context) => {
  const { outcome, query } = context;
  const cursor = query.get('cursor');
  const { reviews, count, nextCursor } = await readReviews(context, {
    perPage: String(perPage),
    ...(cursor === null ? {} : { cursor }),
  });
  const main = html`<h1>${texts.reviews.title}</h1>
    ${outcomeSection(outcome)}
    <section id="reviews" data-region="">
      ${count === 0 ? none : html`<p class="calm">${texts.reviews.count(count)}</p>`}
      ${reviews.length === 0 ? undefined : reviewTable(reviews)}
      ${pager(path, query, nextCursor, texts.reviews.further)}
    </section>`;
  return { title: texts.reviews.title, main, isLive: cursor === null };
};

const none = html`<p class="empty good">
  ${sign('good')} ${texts.reviews.empty} <span class="calm">${texts.reviews.emptyHow}</span>
</p>`;

function reviewTable(reviews: readonly Review[]): Html {
  const { columns } = texts.reviews;
  const rows = reviews.map(
    (review) =>
      html`<tr data-row="">
        <td>${relative(review.since)}</td>
        <td class="text">
          <a href="${pathOf(review)}">${reviewTitle(review)}</a>${
            review.proposal === undefined ? undefined : html` <small>${texts.reviews.oneOfTwo}</small>`
          }
        </td>
        <td><code>${shortToken(review.token)}</code></td>
        <td class="number">${amount(review.amount, review.currency)}</td>
        <td>
          ${review.team}${review.environment === 'sandbox' ? undefined : html` <small class="production">${review.environment}</small>`}
        </td>
      </tr>`,
  );
  return html`<div class="wide" tabindex="0" role="region" aria-label="${texts.reviews.title}">
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">${columns.since}</th>
          <th scope="col">${columns.what}</th>
          <th scope="col">${columns.payment}</th>
          <th scope="col" class="number">${columns.amount}</th>
          <th scope="col">${columns.team}</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

const isNamed =
  ({ params }: Pick<PageContext, 'params'>) =>
  ({ token, code, number }: Review): boolean =>
    token === params['token'] && code === params['code'] && String(number) === params['number'];

export const reviewPage: Page = async (context) => {
  const { api, outcome } = context;
  const { reviews } = await readReviews(context, { token: context.params['token'] ?? '' });
  const review = reviews.find(isNamed(context));
  if (review === undefined) {
    const next = (await readReviews(context, { perPage: '1' })).reviews[0];
    return { title: texts.reviews.title, main: gone(next), status: 404 };
  }
  const history =
    review.kind === 'payment'
      ? await api.get<{ events: TimelineEvent[] }>(`/api/v1/admin/payments/${review.token}/events`)
      : { events: [] };
  const title = reviewTitle(review);
  const main = html`<p class="calm"><a href="${path}">${texts.reviews.back}</a></p>
    <h1>${title}</h1>
    ${outcomeSection(outcome)}
    <div class="split">
      <section class="panel" id="evidence" data-region="" aria-labelledby="evidence-title">
        <h2 id="evidence-title">${texts.reviews.evidence}</h2>
        ${evidenceOf(review)} ${storyOf(history.events)}
      </section>
      <section class="panel" aria-labelledby="choices-title">
        <h2 id="choices-title">${texts.reviews.choices}</h2>
        <div id="proposal" data-region="">${proposalOf(review, context)}</div>
        ${decisionForm(review, context)}
      </section>
    </div>`;
  return { title, main, isLive: true };
};

const gone = (next: Review | undefined): Html =>
  html`<section class="alone">
    <h1>${texts.reviews.gone}</h1>
    <p>
      ${next === undefined ? undefined : html`<a href="${pathOf(next)}">${texts.reviews.nextOne}</a> · `}<a
        href="${path}"
        >${texts.reviews.back}</a
      >
    </p>
  </section>`;

function evidenceOf(review: Review): Html {
  const { token, kind, since, evidence, phase, orderNumber, team, environment } = review;
  const link =
    kind === 'payment'
      ? html`<a href="${paymentPath(token)}"><code>${shortToken(token)}</code></a>`
      : kind === 'payout'
        ? html`<a href="${payoutPath(token)}"><code>${shortToken(token)}</code></a>`
        : copyable(token);
  const words = texts.payment.facts;
  const facts: Fact[] = [
    [texts.reviews.columns.payment, link],
    ['', phase === undefined ? undefined : chip(phase)],
    [texts.reviews.columns.amount, amount(review.amount, review.currency)],
    [words.team, `${team}, ${environment}`],
    [words.order, orderNumber],
    [texts.reviews.columns.since, time(since)],
    ...Object.entries(evidence).map(([name, value]): [string, string] => [
      name,
      shownEvidence(name, value, review),
    ]),
  ];
  return factList(facts);
}

/** Sums are minor units of the currency that was observed with them, or of the payment's. */
function shownEvidence(name: string, value: string, { evidence, currency }: Review): string {
  const sum = /amount$/i.test(name) ? sumOf(value) : undefined;
  return sum === undefined ? value : amountText(sum, evidence['observedCurrency'] ?? currency);
}

const storyOf = (events: readonly TimelineEvent[]): Html | undefined =>
  events.length === 0
    ? undefined
    : html`<ol class="story">
        ${events.map(({ at, type }) => html`<li>${timeOfDay(at)} ${eventSentences[type] ?? type}</li>`)}
      </ol>`;

/** The minor units of a text, unless it is none. */
const sumOf = (text = ''): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);

/** What the first of two persons has answered, and what it waits for. */
function proposalOf(review: Review, { session }: PageContext): Html | undefined {
  const { proposal, proposedBy } = review;
  if (proposal === undefined) return undefined;
  const { resolution, reason, proposedAt } = proposal;
  const { proposed, waitsForAnother, waitsForYou } = texts.reviews;
  return html`${factList([
    [proposed.answer, texts.reviews.resolutions[resolution] ?? resolution],
    [proposed.by, proposedBy],
    [proposed.at, time(proposedAt)],
    [proposed.reason, reason],
  ])}
  ${mayDecide(session, review) ? html`<p class="calm">${proposedBy === session.person ? waitsForAnother : waitsForYou}</p>` : undefined}`;
}

const mayDecide = ({ grants }: PageContext['session'], review: Review): boolean =>
  mayDo(grants, 'admin', review);

function decisionForm(review: Review, { session }: PageContext): Html {
  if (!mayDecide(session, review))
    return html`<p class="calm">${texts.reviews.notYours(formatGrants(session.grants))}</p>`;
  const choices = review.resolutions.map(
    (resolution, place) =>
      html`<label class="choice"
        ><input
          type="radio"
          name="resolution"
          value="${resolution}"
          required
          ${place === 0 ? html`autofocus` : undefined}
        /><span
          ><b>${texts.reviews.resolutions[resolution] ?? resolution}</b>
          ${consequenceOf(resolution, review)}</span
        ></label
      >`,
  );
  return html`<form method="post" action="${pathOf(review)}" class="decision">
    ${choices}
    <label
      >${texts.reviews.reason}<textarea name="reason" required maxlength="1000" rows="3"></textarea>
    </label>
    <input type="hidden" name="csrf" value="${session.csrf}" />
    <input type="hidden" name="team" value="${review.team}" />
    <input type="hidden" name="environment" value="${review.environment}" />
    <button class="strong grave">${texts.reviews.does}</button>
  </form>`;
}

/** What happens, with the sum that it happens to: evidence about a refund has that of the refund. */
function consequenceOf(resolution: string, { evidence, code, amount: whole, currency }: Review): string {
  const observed = resolution === 'accept_theirs' ? evidence['observedAmount'] : undefined;
  const refunded = code.startsWith('refund') ? evidence['amount'] : undefined;
  const sum = sumOf(observed ?? refunded) ?? whole;
  return texts.reviews.consequences[resolution]?.(amountText(sum, currency)) ?? texts.reviews.otherwise;
}

export const decideReview: Action = async (context, form) => {
  const { api, params } = context;
  const { token = '', code = '', number = '' } = params;
  const text = (name: string) => form.get(name) ?? '';
  const answer = await api.call({
    method: 'POST',
    path: `/api/v1/reviews/${encodeURIComponent(token)}/resolve`,
    within: { team: text('team'), environment: text('environment') },
    body: { code, number: Number(number), resolution: text('resolution'), reason: text('reason') },
  });
  if (answer.kind === 'refused') {
    const outcome = refusedOutcome(answer);
    return { location: pathOf({ token, code, number: Number(number) }), outcome };
  }
  if (answer.status === 202) {
    const outcome = { isDone: true, text: texts.outcomes.reviewProposed };
    return { location: pathOf({ token, code, number: Number(number) }), outcome };
  }
  // The list of the API follows a moment later, and may show this one still.
  const { reviews } = await readReviews(context, { perPage: '2' });
  const next = reviews.find((review) => !isNamed(context)(review));
  return {
    location: next === undefined ? path : pathOf(next),
    outcome: { isDone: true, text: texts.outcomes.reviewResolved },
  };
};
