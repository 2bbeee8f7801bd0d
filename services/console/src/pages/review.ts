/** One open review with its evidence and allowed resolutions. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo } from '@tollgate/teams';
import { amountText } from '../components/amount.ts';
import { changeIn } from '../components/event-reason.ts';
import { type Fact, factList, labelOf } from '../components/facts.ts';
import { hiddenFields, panel, reasonField } from '../components/form.ts';
import { headingOf } from '../components/heading.ts';
import { answered, outcomeSection, reviewTitle, shownAt } from '../components/notice.ts';
import { chip, phaseName, sign } from '../components/state.ts';
import { type List, column, listTable } from '../components/table.ts';
import { time } from '../components/time.ts';
import { timeline } from '../components/timeline.ts';
import { copyable, operationLink } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { reviewTexts } from '../review-texts.ts';
import { type Review, path, pathOf, readReviews } from './reviews.ts';

const isNamed =
  ({ params }: Pick<PageContext, 'params'>) =>
  ({ token, code, number }: Review): boolean =>
    token === params['token'] && code === params['code'] && String(number) === params['number'];

export const reviewPage: Page = async (context) => {
  const { outcome } = context;
  const { reviews } = await readReviews(context, { token: context.params['token'] ?? '' });
  const review: Review | undefined = reviews.find(isNamed(context));
  if (review === undefined) {
    const next = (await readReviews(context, { perPage: '1' })).reviews[0];
    return { title: 'Reviews', main: gone(next), status: 404 };
  }
  const story = await storyOf(review, context);
  const title = reviewTitle(review);
  const decision = html`<div id="proposal" data-region="">${proposalOf(review, context)}</div>
    ${decisionForm(review, context)}`;
  const phase = review.phase === undefined ? undefined : chip(review.phase);
  const main = html`<p class="calm"><a href="${path}">All reviews</a></p>
    ${outcomeSection(outcome)}
    ${headingOf(review, html`${phase} <b>${title}</b> ${changeIn(review.evidence)}`)}
    <div class="split">
      ${panel('evidence', 'Evidence', html`${evidenceOf(review)} ${story}`)}
      ${panel('choices', 'Decision', decision, false)}
    </div>`;
  return { title: `${aboutText(review)} · ${title}`, main, isLive: true };
};

/** For example `49.90 EUR, order 4711`. */
const aboutText = ({ amount: sum, currency, orderNumber }: Review): string =>
  [amountText(sum, currency), orderNumber && `order ${orderNumber}`]
    .filter((each) => each !== undefined)
    .join(', ');

const gone = (next: Review | undefined): Html =>
  html`<section class="alone">
    <h1>This review is resolved or does not exist.</h1>
    <p>
      ${next === undefined ? undefined : html`<a href="${pathOf(next)}">Next review</a> · `}<a href="${path}"
        >All reviews</a
      >
    </p>
  </section>`;

function evidenceOf(review: Review): Html {
  const { token, kind, since, evidence, team, environment } = review;
  const link = kind === 'unmatched' ? copyable(token) : operationLink(token);
  const compared = Object.hasOwn(evidence, 'observedStatus') && review.code === 'discrepancy';
  const others = Object.entries(evidence).filter(
    ([name, value]) => name !== 'kind' && !isEmpty(value) && !(compared && sides.has(name)),
  );
  const facts: Fact[] = [
    ['Payment', link],
    ['Team', `${team}, ${environment}`],
    ['Open since', time(since)],
    ...others.map(([name, value]): Fact => [evidenceLabel(name), shownEvidence(name, value, review)]),
  ];
  return html`${factList(facts)} ${compared ? comparison(review) : undefined}`;
}

const evidenceLabel = (name: string): string => reviewTexts.labels[name] ?? labelOf(name);

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === 'null';

/** Our record and the Payment Service's, by the names used in evidence. */
const compareds = [
  ['status', 'observedStatus'],
  ['amount', 'observedAmount'],
  ['currency', 'observedCurrency'],
  ['refundedAmount', 'observedRefundedAmount'],
  ['providerOrderNumber', 'observedOrderNumber'],
] as const;
type Compared = (typeof compareds)[number];
const sides = new Set<string>(compareds.flat());

function comparison(review: Review): Html {
  const { evidence } = review;
  const shown = (name: string) => {
    const value = evidence[name];
    if (value === undefined || isEmpty(value)) return '–';
    return name.toLowerCase().endsWith('status') ? phaseName(value) : shownEvidence(name, value, review);
  };
  // Order numbers are masked on one side.
  const isSame = (line: Compared) => shown(line[0]).endsWith(shown(line[1]).replace('…', ''));
  const list: List<Compared> = {
    name: 'comparison',
    label: 'Our record and the Payment Service',
    keyOf: ([our]) => our,
    columns: [
      column('what', '', ([our]) => evidenceLabel(our)),
      column('ours', 'Our record', ([our]) => shown(our)),
      column('theirs', 'Payment Service', (line) =>
        isSame(line) ? shown(line[1]) : html`<strong>${sign('note')} ${shown(line[1])}</strong>`,
      ),
    ],
  };
  return listTable(list, compareds);
}

/** Amounts are minor units of the currency observed with them, or of the payment's. */
function shownEvidence(name: string, value: string, { evidence, currency }: Review): string {
  const sum = /amount$/i.test(name) ? sumOf(value) : undefined;
  return sum === undefined ? value : amountText(sum, evidence['observedCurrency'] ?? currency);
}

/** The full history, with the reason of each call. */
async function storyOf(
  { kind, token, currency }: Review,
  { api, address }: PageContext,
): Promise<Html | undefined> {
  if (kind === 'unmatched') return undefined;
  const about = `/api/v1/admin/${kind}s/${encodeURIComponent(token)}`;
  const [{ events }, shown] = await Promise.all([
    api.get<'OperatorHistory'>(`${about}/events`),
    api.get<'OperatorPayment' | 'OperatorPayout'>(about),
  ]);
  const disputes = 'disputes' in shown ? shown.disputes : [];
  return timeline({ events, webhooks: [], disputes, currency, replayForm: undefined, address });
}

/** The minor units of a text; undefined if it contains none. */
const sumOf = (text = ''): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);

/** The first person's resolution, and what it awaits. */
function proposalOf(review: Review, { session }: PageContext): Html | undefined {
  const { proposal, proposedBy } = review;
  if (proposal === undefined) return undefined;
  const { resolution, reason, proposedAt } = proposal;
  return html`${factList([
    ['First answer', reviewTexts.resolutions[resolution] ?? resolution],
    ['Answered by', proposedBy],
    ['Time', time(proposedAt)],
    ['Reason', reason],
  ])}
  ${mayDecide(session, review) ? html`<p class="calm">${proposedBy === session.person ? 'This review requires two people. Your answer takes effect when another person gives the same one. A new answer of yours replaces it.' : 'This review requires two people. The same answer from you takes effect at once. Another answer replaces the first one.'}</p>` : undefined}`;
}

const mayDecide = ({ grants }: PageContext['session'], review: Review): boolean =>
  mayDo(grants, 'admin', review);

function decisionForm(review: Review, { session }: PageContext): Html {
  if (!mayDecide(session, review))
    return html`<p class="calm">Your role, ${formatGrants(session.grants)}, cannot resolve reviews.</p>`;
  const { resolutions, team, environment } = review;
  const [only, ...others] = resolutions;
  const isSingle = only !== undefined && others.length === 0;
  const choices = isSingle
    ? html`<p>${sentenceOf(only, review)}</p>
        ${hiddenFields({ resolution: only })}`
    : resolutions.map(
        (resolution) =>
          html`<label class="choice"
            ><input type="radio" name="resolution" value="${resolution}" required /><span
              >${sentenceOf(resolution, review)}</span
            ></label
          >`,
      );
  return html`<form method="post" action="${pathOf(review)}" class="decision">
    ${choices} ${reasonField('stored in the history')}
    ${hiddenFields({ csrf: session.csrf, team, environment })}
    <button class="strong grave">${(isSingle && reviewTexts.buttons[only]) || 'Decide'}</button>
  </form>`;
}

const sentenceOf = (resolution: string, review: Review): Html =>
  html`<b>${reviewTexts.resolutions[resolution] ?? resolution}</b> ${consequenceOf(resolution, review)}`;

/** The effect and its amount: evidence about a refund contains that of the refund. */
function consequenceOf(resolution: string, { evidence, code, amount: whole, currency }: Review): string {
  const observed = resolution === 'accept_theirs' ? evidence['observedAmount'] : undefined;
  const refunded = code.startsWith('refund') ? evidence['amount'] : undefined;
  const sum = sumOf(observed ?? refunded) ?? whole;
  return (
    reviewTexts.consequences[resolution]?.(amountText(sum, currency)) ??
    'The review closes with this resolution. Your reason is stored in the history.'
  );
}

export const decideReview: Action = async (context, form) => {
  const { api, params } = context;
  const { token = '', code = '', number = '' } = params;
  const text = (name: string) => form.get(name) ?? '';
  const here = { token, code, number: Number(number) };
  const before = (await readReviews(context, { token })).reviews.find(isNamed(context));
  const answer = await api.post<Record<'payment' | 'payout', { reviews: Review[] } | undefined>>(
    `/api/v1/reviews/${encodeURIComponent(token)}/resolve`,
    { code, number: here.number, resolution: text('resolution'), reason: text('reason') },
    { within: { team: text('team'), environment: text('environment') } },
  );
  if (answer.kind === 'refused' || answer.status === 202)
    return answered(
      answer,
      pathOf(here),
      'Your answer is stored. It takes effect when a second person gives the same one.',
    );
  const { payment, payout } = answer.body;
  const again = (payment ?? payout)?.reviews.find((review) => review.code === code);
  if (text('resolution') === 'check_again' && again !== undefined)
    return shownAt(
      pathOf({ token, code, number: again.number }),
      true,
      'The status was checked. The review is still open.',
    );
  // The API's list lags slightly, and may still contain this one.
  const { reviews } = await readReviews(context, { perPage: '2' });
  const next = reviews.find((review) => !isNamed(context)(review));
  const resolved = before === undefined ? 'Resolved.' : `Resolved: ${aboutText(before)}.`;
  if (next === undefined) return shownAt(path, true, `${resolved} No other review is open.`);
  return shownAt(pathOf(next), true, `${resolved} Next: ${aboutText(next)}.`);
};
