/** One payment: its state and next step, its history, and the allowed actions. */
import { type Html, html } from '@tollgate/service-kit';
import { type ActionName, type Detail, mayAct, paymentActions } from '../components/actions.ts';
import { amount, amountText, parseAmount, refusedAmountText } from '../components/amount.ts';
import { type Fact, factList, metadataFacts } from '../components/facts.ts';
import { panel } from '../components/form.ts';
import { headingOf, nextLine, titleOf } from '../components/heading.ts';
import {
  type Outcome,
  answered,
  errorText,
  outcomeSection,
  reviewsNotice,
  shownAt,
} from '../components/notice.ts';
import { disputeChip, shortMask } from '../components/payment-list.ts';
import { chip } from '../components/state.ts';
import { statePicture } from '../components/state-picture.ts';
import { relative, time } from '../components/time.ts';
import { timeline } from '../components/timeline.ts';
import type { TimelineEvent } from '../components/timeline-items.ts';
import { copyable, operationPath } from '../components/token.ts';
import type { Action, Page } from '../page.ts';
import { texts } from '../texts.ts';
import { replayFormFor } from './webhooks.ts';

export const paymentPage: Page = async (context) => {
  const { api, params, outcome } = context;
  const token = encodeURIComponent(params['token'] ?? '');
  const detail = await api.get<'OperatorPayment'>(`/api/v1/admin/payments/${token}`);
  const { payment } = detail;
  const [history, sent] = await Promise.all([
    api.get<'OperatorHistory'>(`/api/v1/admin/payments/${token}/events`),
    api.get<'WebhookList'>(`/api/v1/webhooks?token=${token}`, payment),
  ]);
  const { events } = history;
  const { webhooks } = sent;
  const { disputes } = detail;
  const replayForm = mayAct(context.session, payment) ? replayFormFor(payment, context) : undefined;
  const { currency } = payment;
  const [text, when] = nextStep(detail);
  const main = html`${outcomeSection(outcome)}
    <div class="object">
      <section id="facts" class="payment" data-region="">
        ${headingOf(payment, stateOf(detail, events))}
        ${nextLine(detail.call === undefined ? events : [], html`${text}${when}`)}
        ${reviewsNotice(payment.token, detail.reviews)} ${factsOf(detail)}
      </section>
      <section id="actions" data-region="" aria-label="Actions">${paymentActions(detail, context)}</section>
      ${panel('timeline', 'Timeline', timeline({ events, webhooks, disputes, currency, replayForm, address: context.address }))}
      <div class="aside">
        ${panel(
          'way',
          'States',
          html`<div class="wide" tabindex="0" role="region" aria-labelledby="way-title">
              ${statePicture(events)}
            </div>
            <p class="calm">
              Blue: current state. Solid: past states, with the time in each. Dashed: still possible.
            </p>`,
        )}
      </div>
    </div>`;
  return { title: titleOf(payment), main, isLive: true };
};

function stateOf({ payment }: Detail, events: readonly TimelineEvent[]): Html {
  const { phase } = payment;
  // The first of the trailing events in the same phase.
  const since = events.slice(events.findLastIndex((event) => event.phase !== phase) + 1)[0]?.at;
  return html`${chip(phase)}${disputeChip(payment)}
  ${since === undefined ? undefined : html`<span class="calm">since ${time(since)}</span>`}
  ${payment.environment === 'sandbox' ? html`<span class="mode">sandbox</span>` : undefined}`;
}

/** The next step and its time. */
function nextStep({
  payment,
  call,
  machine,
  nextInquiryAt,
  reviews,
}: Detail): [text: string, when?: Html | undefined] {
  const at = nextInquiryAt === undefined ? undefined : html` ${relative(nextInquiryAt)}.`;
  if (call !== undefined) {
    const operation = texts.operations[call.operation] ?? call.operation;
    const isLost = machine.lifecycle.endsWith('.unresolved') || machine.refund === 'unresolved';
    return isLost
      ? [`The answer to the ${operation} was lost. Next check`, at]
      : [`The ${operation} is under way. Answer due`, html` ${relative(call.answerBy)}.`];
  }
  const isOnlyDisputed = reviews.every(({ code }) => code === 'dispute_opened');
  if (!isOnlyDisputed)
    return [
      reviews.length === 1
        ? 'A review waits for a decision.'
        : `${reviews.length} reviews wait for a decision.`,
    ];
  if (machine.refund !== 'idle') return ['The Payment Service has not decided the refund. Next check', at];
  const { disputedAmount, currency } = payment;
  if (disputedAmount > 0)
    return [`Disputed: ${amountText(disputedAmount, currency)}. Answer the bank in the provider's console.`];
  const isWaiting = payment.phase === 'init' || payment.phase === 'pending';
  if (isWaiting)
    return at === undefined ? ['Waiting for the customer.'] : ['Waiting for the customer. Next check', at];
  if (payment.phase === 'authorized') return ['The team captures or voids the payment.'];
  return at === undefined ? ['Final. No further checks.'] : ['Final. Next check', at];
}

function factsOf({ payment }: Detail): Html {
  const { token, currency, sanitizedMask, processingUrl, declineReason } = payment;
  const sum = (minor: number) => (minor === 0 ? undefined : amount(minor, currency));
  const page =
    processingUrl !== undefined && /^https?:/.test(processingUrl)
      ? html`<a href="${processingUrl}" target="_blank" rel="noopener noreferrer"
          >Open the customer's page</a
        >`
      : undefined;
  const facts: Fact[] = [
    ['Team', `${payment.team}, ${payment.environment}`],
    ['Account', payment.account],
    ['Created', time(payment.createdAt)],
    ['Token', copyable(token)],
    ['Product', payment.product],
    ['Card', sanitizedMask === undefined ? undefined : shortMask(sanitizedMask)],
    ['Authorized', sum(payment.heldAmount)],
    ['Approved', sum(payment.approvedAmount)],
    ['Refunded', sum(payment.refundedAmount)],
    ['Disputed', sum(payment.disputedAmount)],
    ['Lost in disputes', sum(payment.lostAmount)],
    ['Decline reason', declineReason],
    ...metadataFacts(payment.metadata, '/console/payments'),
    ['Payment page', page],
  ];
  return factList(facts);
}

/** The API call of each action. */
const requests: Readonly<
  Record<Exclude<ActionName, 'inquire'>, { path: string; body: (token: string, amount?: number) => object }>
> = {
  capture: { path: '/api/v1/payments/confirm', body: (token) => ({ token }) },
  void: { path: '/api/v1/payments/decline', body: (token) => ({ token }) },
  refund: { path: '/api/v1/refunds', body: (token, minor) => ({ token, amount: minor }) },
};

export const actOn =
  (name: Exclude<ActionName, 'inquire'>): Action =>
  async ({ api, params }, form) => {
    const token = params['token'] ?? '';
    const location = operationPath(token);
    const { payment, refundableAmount } = await api.get<'OperatorPayment'>(
      `/api/v1/admin/payments/${encodeURIComponent(token)}`,
    );
    const minor = name === 'refund' ? parseAmount(form.get('amount') ?? '', payment.currency) : undefined;
    const { currency } = payment;
    if (name === 'refund' && minor === undefined)
      return shownAt(location, false, refusedAmountText(currency));
    const { path, body } = requests[name];
    // Includes the amount: a corrected amount after a refusal is a new request.
    const idempotencyKey = name === 'refund' ? `${form.get('key') ?? ''}-${minor}` : undefined;
    const terms = { within: payment, idempotencyKey };
    const answer = await api.post<{ refund?: { status: string } }>(path, body(token, minor), terms);
    if (answer.kind === 'answer') return { location, outcome: outcomeOf(name, answer) };
    const isTooMuch = answer.errors.some(
      ({ code }) => code === 'refund_exceeds_amount' || code === 'payment_disputed',
    );
    const text = isTooMuch
      ? `At most ${amountText(refundableAmount, payment.currency)} can be refunded now. Nothing was sent.`
      : errorText(answer.errors);
    return { location, outcome: { isDone: false, text, requestId: answer.requestId } };
  };

/** A refund declined at once by the Payment Service is answered with 200: it was executed, and declined. */
function outcomeOf(
  name: Exclude<ActionName, 'inquire'>,
  { status, body }: { status: number; body: { refund?: { status: string } } },
): Outcome {
  if (body.refund?.status === 'declined')
    return { isDone: false, text: 'The Payment Service declined the refund. No money was returned.' };
  const unknown = 'Sent. The outcome is not known yet. It appears here after the next check.';
  return { isDone: true, text: status === 202 ? unknown : `The ${name} was accepted.` };
}

const inquiryTexts: Readonly<Record<string, string>> = {
  inquired: 'The Payment Service answered. The status is up to date.',
  'awaiting-answer': 'A call of this payment is under way. Wait for its answer.',
  failed: 'The Payment Service gave no usable answer. The next check follows automatically.',
  'not-asked': 'The account cannot be called now. The next check follows automatically.',
  'nothing-there': 'There is no such payment.',
};

export const inquireNow: Action = async ({ api, params }) => {
  const token = params['token'] ?? '';
  const path = `/api/v1/admin/payments/${encodeURIComponent(token)}/inquire`;
  const answer = await api.post<{ result: string }>(path, {});
  return answered(answer, operationPath(token), ({ result }) => ({
    isDone: result === 'inquired' || result === 'awaiting-answer',
    text: inquiryTexts[result] ?? result,
  }));
};
