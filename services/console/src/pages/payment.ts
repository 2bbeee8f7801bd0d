/** One payment: its state and next step, its path, its history, and the allowed actions. */
import { type Html, html } from '@tollgate/service-kit';
import { type ActionName, type Detail, mayAct, paymentActions } from '../components/actions.ts';
import { amount, amountExample, amountText, parseAmount } from '../components/amount.ts';
import { openRefusal } from '../components/event-reason.ts';
import { type Fact, factList, metadataFacts } from '../components/facts.ts';
import {
  type Outcome,
  errorText,
  outcomeSection,
  refusedOutcome,
  reviewsNotice,
} from '../components/notice.ts';
import { disputeChip, paymentPath, shortMask } from '../components/payment-list.ts';
import { chip, phaseName, sign } from '../components/state.ts';
import { statePicture } from '../components/state-picture.ts';
import { relative, time } from '../components/time.ts';
import { timeline } from '../components/timeline.ts';
import type { TimelineEvent } from '../components/timeline-items.ts';
import { copyable, shortToken } from '../components/token.ts';
import type { Action, Page } from '../page.ts';
import { texts } from '../texts.ts';
import { playPanel } from './sandbox-play.ts';
import { replayFormAt } from './webhook-replay.ts';

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
  const replayForm = mayAct(context.session, payment)
    ? replayFormAt(paymentPath(payment.token), context)
    : undefined;
  const main = html`${outcomeSection(outcome)}
    <div class="object">
      <section id="facts" class="payment" data-region="">
        ${heading(detail, events)} ${nextOf(detail, events)} ${reviewsNotice(payment.token, detail.reviews)}
        ${factsOf(detail)}
      </section>
      <section id="actions" data-region="" aria-label="${texts.actions.title}">
        ${paymentActions(detail, context)}
      </section>
      <section id="timeline" class="panel" data-region="" aria-labelledby="timeline-title">
        <h2 id="timeline-title">${texts.payment.timeline}</h2>
        ${timeline({ events, webhooks, disputes, currency: payment.currency, replayForm, address: context.address })}
      </section>
      <div class="aside">
        <section id="way" class="panel" data-region="" aria-labelledby="way-title">
          <h2 id="way-title">${texts.payment.picture}</h2>
          <div class="wide" tabindex="0" role="region" aria-labelledby="way-title">
            ${statePicture(events)}
          </div>
          <p class="calm">${texts.payment.pictureHelp}</p>
        </section>
        <div id="play" data-region="">${playPanel(payment, context)}</div>
      </div>
    </div>`;
  const { token: id, orderNumber = shortToken(id), amount: sum, currency, phase } = payment;
  const title = `${orderNumber} · ${amountText(sum, currency)} · ${phaseName(phase)}`;
  return { title, main, isLive: true };
};

function heading({ payment }: Detail, events: readonly TimelineEvent[]): Html {
  const { phase, orderNumber } = payment;
  // The first of the trailing events in the same phase.
  const since = events.slice(events.findLastIndex((event) => event.phase !== phase) + 1)[0]?.at;
  return html`<div class="heading">
    <h1>
      ${amount(payment.amount, payment.currency)}
      ${orderNumber === undefined ? undefined : html`<small>${texts.payment.order} ${copyable(orderNumber)}</small>`}
    </h1>
    <p>
      ${chip(phase)}${disputeChip(payment)}
      ${since === undefined ? undefined : html`<span class="calm">${texts.payment.since} ${time(since)}</span>`}
      ${payment.environment === 'sandbox' ? html`<span class="mode">sandbox</span>` : undefined}
    </p>
  </div>`;
}

/** The next step and its time; after a refusal, the refusal first. */
function nextOf(detail: Detail, events: readonly TimelineEvent[]): Html {
  const refusal = detail.call === undefined ? openRefusal(events) : undefined;
  const [text, when] = nextStep(detail);
  return html`<p class="next">
    ${refusal === undefined ? undefined : html`<span class="refused">${sign('bad')} ${refusal}</span>`}
    <b>${texts.payment.next}</b> ${text}${when}
  </p>`;
}

function nextStep({
  payment,
  call,
  machine,
  nextInquiryAt,
  reviews,
}: Detail): [text: string, when?: Html | undefined] {
  const words = texts.next;
  const at = nextInquiryAt === undefined ? undefined : html` ${relative(nextInquiryAt)}.`;
  if (call !== undefined) {
    const operation = texts.operations[call.operation] ?? call.operation;
    const isLost = machine.lifecycle.endsWith('.unresolved') || machine.refund === 'unresolved';
    return isLost
      ? [words.unresolved(operation), at]
      : [words.underWay(operation), html` ${relative(call.answerBy)}.`];
  }
  const isOnlyDisputed = reviews.every(({ code }) => code === 'dispute_opened');
  if (!isOnlyDisputed) return [words.review(reviews.length)];
  if (machine.refund !== 'idle') return [words.refund, at];
  const { disputedAmount, currency } = payment;
  if (disputedAmount > 0) return [words.disputed(amountText(disputedAmount, currency))];
  const isWaiting = payment.phase === 'init' || payment.phase === 'pending';
  if (isWaiting) return at === undefined ? [words.customerOnly] : [words.customer, at];
  if (payment.phase === 'authorized') return [words.authorized];
  return at === undefined ? [words.finalOnly] : [words.final, at];
}

function factsOf({ payment }: Detail): Html {
  const words = texts.payment.facts;
  const { token, currency, sanitizedMask, processingUrl, declineReason } = payment;
  const sum = (minor: number) => (minor === 0 ? undefined : amount(minor, currency));
  const page =
    processingUrl !== undefined && /^https?:/.test(processingUrl)
      ? html`<a href="${processingUrl}" target="_blank" rel="noopener noreferrer"
          >${texts.payment.customerPage}</a
        >`
      : undefined;
  const facts: Fact[] = [
    [words.team, `${payment.team}, ${payment.environment}`],
    [words.account, payment.account],
    [words.created, time(payment.createdAt)],
    [words.token, copyable(token)],
    [words.product, payment.product],
    [words.card, sanitizedMask === undefined ? undefined : shortMask(sanitizedMask)],
    [words.held, sum(payment.heldAmount)],
    [words.approved, sum(payment.approvedAmount)],
    [words.refunded, sum(payment.refundedAmount)],
    [words.disputed, sum(payment.disputedAmount)],
    [words.lost, sum(payment.lostAmount)],
    [words.declined, declineReason],
    ...metadataFacts(payment.metadata, '/console/payments'),
    [words.page, page],
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
    const location = paymentPath(token);
    const { payment, refundableAmount } = await api.get<'OperatorPayment'>(
      `/api/v1/admin/payments/${encodeURIComponent(token)}`,
    );
    const minor = name === 'refund' ? parseAmount(form.get('amount') ?? '', payment.currency) : undefined;
    const { currency } = payment;
    if (name === 'refund' && minor === undefined) {
      const text = texts.outcomes.refusedAmount(currency, amountExample(currency));
      return { location, outcome: { isDone: false, text } };
    }
    const { path, body } = requests[name];
    // Includes the amount: a corrected amount after a refusal is a new request.
    const idempotencyKey = `${form.get('key') ?? ''}-${minor}`;
    const answer = await api.call<{ refund?: { status: string } }>({
      method: 'POST',
      path,
      within: payment,
      body: body(token, minor),
      ...(name === 'refund' ? { idempotencyKey } : {}),
    });
    if (answer.kind === 'answer') return { location, outcome: outcomeOf(name, answer) };
    const isTooMuch = answer.errors.some(
      ({ code }) => code === 'refund_exceeds_amount' || code === 'payment_disputed',
    );
    const text = isTooMuch
      ? texts.outcomes.refundTooHigh(amountText(refundableAmount, payment.currency))
      : errorText(answer.errors);
    return { location, outcome: { isDone: false, text, requestId: answer.requestId } };
  };

/** A refund declined at once by the Payment Service is answered with 200: it was executed, and declined. */
function outcomeOf(
  name: Exclude<ActionName, 'inquire'>,
  { status, body }: { status: number; body: { refund?: { status: string } } },
): Outcome {
  if (body.refund?.status === 'declined') return { isDone: false, text: texts.outcomes.refundDeclined };
  return { isDone: true, text: status === 202 ? texts.outcomes.unknown : texts.outcomes[name] };
}

export const inquireNow: Action = async ({ api, params }) => {
  const token = params['token'] ?? '';
  const path = `/api/v1/admin/payments/${encodeURIComponent(token)}/inquire`;
  const answer = await api.call<{ result: string }>({ method: 'POST', path, body: {} });
  const location = paymentPath(token);
  if (answer.kind === 'refused')
    return {
      location,
      outcome: refusedOutcome(answer),
    };
  const { result } = answer.body;
  const isDone = result === 'inquired' || result === 'awaiting-answer';
  return { location, outcome: { isDone, text: texts.outcomes.inquire[result] ?? result } };
};
