import { metadataBytes, refundsMetadataBytesMax } from '../metadata.ts';
import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  announcedCall,
  apiError,
  decided,
  fold,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  refundSubmitted,
  types,
} from '../testing/samples.ts';
import { acceptedRefund, answerToRefund, externalRefund, submitRefund } from '../testing/payment-story.ts';
import type { RefundOutcome, SubmitRefund } from './payment-commands.ts';
import { decide } from './payment-decide.ts';
import { type ReviewCode, decodePaymentEvent, type PaymentEvent } from './payment-events.ts';
import { isFinalPhase, paymentPhases } from './payment-machine.ts';
import { refundErrorsLengthMax } from './payment-evolve.ts';
import { reservedAmount } from './payment-state.ts';
import { refundsMax } from './refunds.ts';
import { callRules } from '../outbound-call/outbound-call.ts';
import { errorsMax } from '../values.ts';

const { given } = scenario(paymentDomain);

const opened = (code: ReviewCode, evidence: object = {}): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence: expect.objectContaining(evidence) },
});

const { answerBy, quietUntil } = announcedCall;

const answer = (outcome: RefundOutcome, refundToken = 'refund-1') => answerToRefund(refundToken, outcome);
const accepted = (status: string, changes: { amount?: number } = {}) =>
  acceptedRefund({ status, ...changes });
const refused: RefundOutcome = { kind: 'refused', errors: [apiError('processing_error')] };
const notSent: RefundOutcome = { kind: 'not-sent', reason: 'connection refused' };
const unknown: RefundOutcome = { kind: 'unknown', reason: 'timeout' };

const approvedEvent = (refundToken = 'refund-1'): PaymentEvent => ({
  type: 'RefundApproved',
  data: { refundToken },
});
/** Approved by the call's own answer, with the provider's token. */
const answeredApproved = (refundToken = 'refund-1'): PaymentEvent => ({
  type: 'RefundApproved',
  data: { refundToken, serviceRefundToken: 'service-refund-1' },
});
const declinedEvent = (
  reason: 'refused' | 'not-sent' | 'declined',
  errors: ReturnType<typeof apiError>[] = [],
): PaymentEvent => ({ type: 'RefundDeclined', data: { refundToken: 'refund-1', errors, reason } });
const unresolvedEvent = (reason: string): PaymentEvent => ({
  type: 'RefundUnresolved',
  data: { refundToken: 'refund-1', reason },
});
const acceptedEvent: PaymentEvent = {
  type: 'RefundAccepted',
  data: { refundToken: 'refund-1', serviceRefundToken: 'service-refund-1' },
};

const approved = historyTo.approved;
const submitted = [...approved, refundSubmitted('refund-1', 300)];
const unresolved = [...submitted, unresolvedEvent('timeout')];
const pending = [...submitted, acceptedEvent];
const undecided = { submitted, unresolved, accepted: pending };
type Undecided = keyof typeof undecided;
const undecidedStates = Object.keys(undecided) as Undecided[];

// --- The command

test('a refund is announced with its amount, its fingerprint and its times', () => {
  given(approved)
    .when(submitRefund('refund-1', 300))
    .then([refundSubmitted('refund-1', 300)]);
});

test('without an amount, a refund takes all that is left', () => {
  given(approved)
    .when(submitRefund('refund-1'))
    .then([refundSubmitted('refund-1', 1000)]);
  given([...submitted, approvedEvent()])
    .when(submitRefund('refund-2'))
    .then([refundSubmitted('refund-2', 700)]);
  given([...approved, externalRefund(999)])
    .when(submitRefund('refund-2'))
    .then([refundSubmitted('refund-2', 1)]);
});

const ended = [
  ...Object.values(undecided),
  [...submitted, approvedEvent()],
  [...submitted, declinedEvent('refused')],
];

test.each(ended.map((history) => [history]))(
  'the same refund again writes nothing, whatever the outcome of the first',
  (history) => {
    given(history).when(submitRefund('refund-1', 300)).thenNothing();
    given(history)
      .when(submitRefund('refund-1', undefined, { window: { ...announcedCall, sendBy: 99 } }))
      .thenNothing();
  },
);

test.each(ended.map((history) => [history]))(
  'another refund under the same key is refused, whatever the outcome of the first',
  (history) => {
    given(history)
      .when(submitRefund('refund-1', 300, { fingerprint: 'other' }))
      .thenRefused('idempotency_key_reused');
  },
);

test('the replay check comes before all others: a repeated full refund does not exceed the amount', () => {
  const history = [...approved, refundSubmitted('refund-1', 1000), approvedEvent()];
  expect(paymentAfter(history).phase).toBe('refunded');
  given(history).when(submitRefund('refund-1', 1000)).thenNothing();
  const revised: PaymentEvent = {
    type: 'FinalStatusRevised',
    data: { from: 'refunded', to: 'declined' },
  };
  given([...history, revised])
    .when(submitRefund('refund-1', 1000))
    .thenNothing();
  given([...history, revised])
    .when(submitRefund('refund-1', 1, { fingerprint: 'other' }))
    .thenRefused('idempotency_key_reused');
});

test('a refund of a payment that was never requested is refused', () => {
  given([]).when(submitRefund('refund-1', 1)).thenRefused('payment_not_found');
});

test.each(
  paymentPhases.filter((phase) => isFinalPhase(phase) && phase !== 'approved' && phase !== 'refunded'),
)('in phase %s a refund is refused permanently', (phase) => {
  given(historyTo[phase]).when(submitRefund('refund-1', 1)).thenRefused('payment_in_final_state');
  given(historyTo[phase]).when(submitRefund('refund-1')).thenRefused('payment_in_final_state');
});

const refusalOf = (history: readonly PaymentEvent[], command: SubmitRefund) => {
  const decision = decide(fold(history), command);
  return decision.kind === 'refused' ? decision.refusal : undefined;
};

test.each(paymentPhases.filter((phase) => !isFinalPhase(phase)))(
  'in phase %s a refund is refused until the payment is paid, whatever the amount',
  (phase) => {
    for (const amount of [undefined, 0, 1, 1001])
      expect(refusalOf(historyTo[phase], submitRefund('refund-1', amount))).toEqual({
        code: 'payment_not_refundable',
      });
  },
);

test('a refund of a fully refunded payment exceeds the rest', () => {
  for (const command of [submitRefund('refund-1', 1), submitRefund('refund-1')])
    expect(refusalOf(historyTo.refunded, command)).toEqual({
      code: 'refund_exceeds_amount',
      refundableAmount: 0,
      currency: 'EUR',
    });
});

test.each([
  ['more than was approved', approved, 1001, 1000],
  ['more than is left', [...submitted, approvedEvent()], 701, 700],
  ['more than a refund elsewhere has left', [...approved, externalRefund(600)], 401, 400],
  ['nothing', approved, 0, 1000],
  ['less than nothing', approved, -5, 1000],
] as const)(
  'a refund of %s is refused with the refundable amount',
  (_, history, amount, refundableAmount) => {
    expect(refusalOf(history, submitRefund('refund-2', amount))).toEqual({
      code: 'refund_exceeds_amount',
      refundableAmount,
      currency: 'EUR',
    });
  },
);

test('exactly the rest may be refunded', () => {
  expect(types(decided([...submitted, approvedEvent()], submitRefund('refund-2', 700)))).toEqual([
    'RefundSubmitted',
  ]);
});

describe.each(undecidedStates)('while a refund is %s', (state) => {
  const history = undecided[state];

  test('its amount is reserved: a refund above the rest is refused', () => {
    expect(reservedAmount(paymentAfter(history))).toBe(300);
    expect(refusalOf(history, submitRefund('refund-2', 701))).toEqual({
      code: 'refund_exceeds_amount',
      refundableAmount: 700,
      currency: 'EUR',
    });
  });

  test('another refund waits, with or without an amount', () => {
    given(history).when(submitRefund('refund-2', 700)).thenRefused('operation_in_progress');
    given(history).when(submitRefund('refund-2', 1)).thenRefused('operation_in_progress');
    given(history).when(submitRefund('refund-2')).thenRefused('operation_in_progress');
  });
});

test('while everything is reserved, a refund without an amount waits for the rest to be known', () => {
  given([...approved, refundSubmitted('refund-1', 1000)])
    .when(submitRefund('refund-2'))
    .thenRefused('operation_in_progress');
});

test('the reservation of a declined refund is released', () => {
  given([...submitted, declinedEvent('refused')])
    .when(submitRefund('refund-2', 1000))
    .then([refundSubmitted('refund-2', 1000)]);
});

// --- The answer

test.each(['submitted', 'unresolved'] as const)('a refund that was %s ends with its answer', (state) => {
  for (const [outcome, event] of [
    [accepted('approved'), answeredApproved()],
    [accepted('declined'), declinedEvent('declined')],
    [accepted('pending'), acceptedEvent],
    [refused, declinedEvent('refused', [apiError('processing_error')])],
    [notSent, declinedEvent('not-sent')],
  ] as const)
    given(undecided[state]).when(answer(outcome)).then([event]);
});

test('a full refund makes the payment refunded', () => {
  const full = [...approved, refundSubmitted('refund-1', 1000)];
  const events = decided(full, answer(accepted('approved', { amount: 1000 })));
  expect(paymentAfter([...full, ...events])).toMatchObject({ phase: 'refunded', refundedAmount: 1000 });
});

test('a refund whose answer was lost is unresolved, and keeps its reservation', () => {
  given(submitted)
    .when(answer(unknown))
    .then([unresolvedEvent('timeout')]);
  given(unresolved).when(answer(unknown)).thenNothing();
  expect(reservedAmount(paymentAfter(unresolved))).toBe(300);
});

test('an accepted and undecided refund keeps its reservation', () => {
  expect(reservedAmount(paymentAfter(pending))).toBe(300);
  expect(paymentAfter(pending).refunds[0]).toMatchObject({ serviceRefundToken: 'service-refund-1' });
});

test('an answer affects only its own refund', () => {
  const both = [...submitted, declinedEvent('refused'), refundSubmitted('refund-2', 300)];
  for (const outcome of [accepted('approved'), accepted('pending'), refused, notSent, unknown]) {
    given(both).when(answer(outcome)).thenNothing();
    given(both).when(answer(outcome, 'refund-3')).thenNothing();
  }
  given(both)
    .when(answer(accepted('approved'), 'refund-2'))
    .then([answeredApproved('refund-2')]);
});

test('an answer after the decision, or after the acceptance, changes nothing', () => {
  for (const history of [[...submitted, approvedEvent()], [...submitted, declinedEvent('refused')], pending])
    for (const outcome of [accepted('approved'), accepted('pending'), refused, notSent, unknown])
      given(history).when(answer(outcome)).thenNothing();
});

test('long texts of an answer are cut', () => {
  const errors = Array.from({ length: 80 }, () => apiError('processing_error'));
  const reason = 'x'.repeat(10_000);
  for (const outcome of [{ kind: 'refused', errors } as const, { kind: 'unknown', reason } as const])
    for (const event of decided(submitted, answer(outcome))) expect(decodePaymentEvent(event)).toEqual(event);
});

// --- Accepted, and not decided

describe('an accepted refund', () => {
  const decidedAt = quietUntil + callRules.refund.decisionMs;

  test('is approved when the sum grows', () => {
    given(pending).when(shows(300, quietUntil)).then([approvedEvent()]);
  });

  test('opens a review if the sum has not grown in the three days that the provider has to decide', () => {
    expect(callRules.refund.decisionMs).toBe(259_200_000);
    given(pending)
      .when(shows(0, decidedAt - 1))
      .thenNothing();
    given(pending)
      .when(shows(0, decidedAt))
      .then([opened('refund_unresolved', { refundToken: 'refund-1' })]);
  });
});

// --- The sum is below ours

const shows = (refundedAmount: number, inquiredAt: number) =>
  inquired(observed('approved', { refundedAmount }), { inquiredAt });

// 300 were refunded in the provider's console, and a lost refund of 300 was approved because of them.
describe('a refund after a failed inquiry', () => {
  const data = { ...refundSubmitted('refund-1', 300).data, sumUnknown: true as const };
  const history: PaymentEvent[] = [...approved, { type: 'RefundSubmitted', data }];

  test('ends with its answer like any other', () => {
    given(history)
      .when(answer(accepted('approved')))
      .then([answeredApproved()]);
  });
});

describe('an inquiry that shows a smaller refunded sum than ours', () => {
  const history = [...submitted, answeredApproved()];

  test('waits for the latest of several', () => {
    const later = { ...announcedCall, quietUntil: quietUntil + 1 };
    const second: PaymentEvent[] = [
      {
        type: 'RefundSubmitted',
        data: { ...refundSubmitted('refund-2', 100).data, ...later },
      },
      approvedEvent('refund-2'),
    ];
    given([...history, ...second])
      .when(shows(300, quietUntil))
      .thenNothing();
    expect(types(decided([...history, ...second], shows(300, quietUntil + 1)))).toEqual(['ReviewOpened']);
  });

  test('opens no review if it predates the payment', () => {
    given(history)
      .when(inquired(observed('pending'), { inquiredAt: quietUntil }))
      .thenNothing();
  });
});

// --- Inquiries

test('while the caller may still wait for the answer, an inquiry has no effect', () => {
  for (const refundedAmount of [0, 300, 500])
    given(submitted)
      .when(shows(refundedAmount, answerBy - 1))
      .thenNothing();
});

test('a crash before any recorded outcome leaves the refund unresolved once no caller waits', () => {
  given(submitted)
    .when(shows(0, answerBy))
    .then([unresolvedEvent('no outcome was recorded')]);
});

test.each(undecidedStates)(
  'if the sum has grown by exactly its amount, a refund that was %s is approved',
  (state) => {
    const events = decided(undecided[state], shows(300, answerBy));
    expect(types(events).filter((type) => type !== 'RefundUnresolved')).toEqual(['RefundApproved']);
    const after = paymentAfter([...undecided[state], ...events]);
    expect(after).toMatchObject({ refundedAmount: 300, phase: 'approved' });
    expect(reservedAmount(after)).toBe(0);
  },
);

test('a full refund is recognized by the status', () => {
  const full = [...approved, refundSubmitted('refund-1', 1000), unresolvedEvent('timeout')];
  given(full)
    .when(inquired(observed('refunded', { refundedAmount: 0 })))
    .then([approvedEvent()]);
});

test('time alone never releases the reservation', () => {
  const called = [...unresolved, ...decided(unresolved, shows(0, quietUntil * 1_000_000))];
  expect(reservedAmount(paymentAfter(called))).toBe(300);
  given(called).when(submitRefund('refund-2', 1)).thenRefused('operation_in_progress');
});

// --- Refunds made elsewhere

test('without our own refund in flight, the difference was made elsewhere', () => {
  for (const [history, sum, amount] of [
    [approved, 300, 300],
    [[...approved, externalRefund(300)], 450, 150],
    [[...submitted, approvedEvent()], 450, 150],
    [[...submitted, declinedEvent('not-sent')], 300, 300],
  ] as const)
    given(history)
      .when(shows(sum, 0))
      .then([externalRefund(amount)]);
  given([...submitted, approvedEvent()])
    .when(shows(300, 0))
    .thenNothing();
});

// It was accepted and undecided, its second delivery met the rate limit, and its sum came later: it was booked as foreign.
test('a refund that met the rate limit is refused, and in review if its amount shows later', () => {
  const tooMany: RefundOutcome = { kind: 'not-sent', reason: 'http 429', isAnswered: true };
  given(submitted)
    .when(answer(tooMany))
    .then([declinedEvent('refused')]);
});

test('with one in flight, a refund elsewhere is booked once ours is decided', () => {
  given(unresolved)
    .when(shows(200, quietUntil - 1))
    .thenNothing();
  const ended = [...unresolved, declinedEvent('refused')];
  given(ended)
    .when(shows(200, quietUntil))
    .then([externalRefund(200)]);
  given([...unresolved, approvedEvent()])
    .when(shows(500, quietUntil))
    .then([externalRefund(200)]);
});

// --- Revisions meanwhile

const revisedTo = (to: 'declined' | 'approved', amount?: number): PaymentEvent => ({
  type: 'FinalStatusRevised',
  data: {
    from: to === 'declined' ? 'approved' : 'declined',
    to,
    ...(amount === undefined ? {} : { amount }),
  },
});

describe('while the status is revised', () => {
  const revised = [...unresolved, revisedTo('declined')];
  const shownDeclined = (inquiredAt: number) =>
    inquired(observed('declined', { refundedAmount: 300 }), { inquiredAt });

  test('a refund in flight still ends with its answer', () => {
    given(revised)
      .when(answer(accepted('approved')))
      .then([answeredApproved()]);
    given(revised)
      .when(answer(refused))
      .then([declinedEvent('refused', [apiError('processing_error')])]);
  });

  test('a sum on an unpaid payment decides nothing and opens a review after the quiet period', () => {
    given(revised)
      .when(shownDeclined(quietUntil - 1))
      .thenNothing();
    given(revised)
      .when(shownDeclined(quietUntil))
      .then([opened('refund_unresolved', { observedRefundedAmount: 0 })]);
  });

  test('once revised back, the sum decides it again', () => {
    given([...revised, revisedTo('approved', 1000)])
      .when(shows(300, quietUntil))
      .then([approvedEvent()]);
  });

  test('a new refund is limited by the currently approved amount', () => {
    const lower = [...approved, revisedTo('declined'), revisedTo('approved', 400)];
    expect(refusalOf(lower, submitRefund('refund-1', 401))).toMatchObject({ refundableAmount: 400 });
    expect(types(decided(lower, submitRefund('refund-1', 400)))).toEqual(['RefundSubmitted']);
  });

  test("the provider's refunded amount is not refunded again, even if our sums are smaller", () => {
    const toRefunded: PaymentEvent = {
      type: 'FinalStatusRevised',
      data: { from: 'declined', to: 'refunded', amount: 1000 },
    };
    const history = [...revised, toRefunded, declinedEvent('refused')];
    expect(paymentAfter(history)).toMatchObject({ phase: 'refunded', refundedAmount: 0 });
    expect(refusalOf(history, submitRefund('refund-2', 1))).toEqual({
      code: 'refund_exceeds_amount',
      refundableAmount: 0,
      currency: 'EUR',
    });
  });

  test('"refunded" is the effect of the refund in flight, even if more was refunded than is approved', () => {
    const lower = [...approved, externalRefund(600), refundSubmitted('refund-1', 300), revisedTo('declined')];
    const snapshot = observed('refunded', { amount: 200, refundedAmount: 200 });
    expect(decided([...lower, revisedTo('approved', 200)], inquired(snapshot))).toEqual([]);
  });

  // More was refunded than the payment is now worth: the rest is zero, never negative.
  test('if more was refunded than is approved now, nothing is left', () => {
    const lower = [...approved, externalRefund(600), revisedTo('declined'), revisedTo('approved', 400)];
    expect(refusalOf(lower, submitRefund('refund-1', 1))).toMatchObject({ refundableAmount: 0 });
  });
});

/** A submission of 1 that the provider refuses, with these errors. */
const refusedRefund = (
  { window, type: _type, ...asked }: SubmitRefund,
  errors: ReturnType<typeof apiError>[] = [],
): PaymentEvent[] => [
  { type: 'RefundSubmitted', data: { ...asked, ...window, amount: 1 } },
  { type: 'RefundDeclined', data: { refundToken: asked.refundToken, reason: 'refused', errors } },
];
/** An approved payment with this number of refused refunds, `refund-0` and so on. */
const afterRefused = (count: number, refusedOne: (index: number) => PaymentEvent[]) =>
  paymentAfter([...approved, ...Array.from({ length: count }, (_, index) => refusedOne(index)).flat()]);
const refusedAs = (code: string) => ({ kind: 'refused', refusal: { code } });

test('a payment has a maximum number of refunds in any state, and replays are still answered', () => {
  const each = (index: number) => refusedRefund(submitRefund(`refund-${index}`, 1));
  const state = afterRefused(refundsMax, each);
  expect(decide(state, submitRefund('one-more', 1))).toEqual(refusedAs('too_many_refunds'));
  expect(decide(state, submitRefund('refund-0', 1))).toEqual({ kind: 'events', events: [] });
  expect(decide(afterRefused(refundsMax - 1, each), submitRefund('one-more', 1))).toMatchObject({
    events: [{ type: 'RefundSubmitted' }],
  });
});

// 500 refused refunds with 2 KB of errors each made a view too large for the store. The 1,000 refunded next stayed in the
// team's balance and could be paid out.
test('the errors of refused refunds share a size limit, and those of the latest refunds are kept', () => {
  const error = { ...apiError('processing_error'), message: '錯'.repeat(500) };
  const errorsOf = (index: number) => Array.from({ length: index === 0 ? 1 : errorsMax }, () => error);
  const keptOf = (count: number) =>
    afterRefused(count, (index) =>
      refusedRefund(submitRefund(`refund-${index}`, 1), errorsOf(index)),
    ).refunds.map(({ declined }) => declined?.errors.length ?? 0);
  expect(keptOf(2)).toEqual([1, errorsMax]);
  const fitting = Math.floor(refundErrorsLengthMax / JSON.stringify(error).length);
  const kept = keptOf(10);
  expect(kept.slice(-1)).toEqual([errorsMax]);
  expect(kept.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  expect(kept.reduce((sum, count) => sum + count, 0)).toBe(fitting);
});

// 500 refunds of 32 KiB each would fit neither a view nor a record.
test('the metadata of all refunds of a payment share a size limit', () => {
  const metadata = { note: 'x'.repeat(500) };
  const asked = (refundToken: string) => submitRefund(refundToken, 1, { metadata });
  const each = (index: number) => refusedRefund(asked(`refund-${index}`));
  const count = Math.floor(refundsMetadataBytesMax / metadataBytes(metadata));
  const full = afterRefused(count, each);
  expect(decide(full, asked('one-more'))).toEqual(refusedAs('too_much_metadata'));
  expect(decide(full, submitRefund('without', 1))).toMatchObject({ kind: 'events' });
  expect(decide(full, asked('refund-0'))).toEqual({ kind: 'events', events: [] });
  expect(decide(afterRefused(count - 1, each), asked('one-more'))).toMatchObject({
    events: [{ data: { metadata } }],
  });
});
