import { describe, expect, test } from 'vitest';
import {
  adopted,
  announcedCall,
  apiError,
  attempt,
  fold,
  historyTo,
  paymentAfter,
  refundSubmitted,
  requested,
  sampleEvents,
} from '../testing/samples.ts';
import { externalRefund } from '../testing/payment-story.ts';
import { InvariantViolation } from '../invariant.ts';
import type { PaymentEvent, PaymentEventType } from './payment-events.ts';
import { paymentPhases, paymentWalk, type BeginningType, type PaymentPhase } from './payment-machine.ts';
import { evolve, toMachineEvent } from './payment-evolve.ts';
import { machineStateOf, reservedAmount, type Payment } from './payment-state.ts';

const refundApproved = (refundToken: string): PaymentEvent => ({
  type: 'RefundApproved',
  data: { refundToken },
});
const refundDeclined = (refundToken: string): PaymentEvent => ({
  type: 'RefundDeclined',
  data: { refundToken, errors: [apiError('processing_error')], reason: 'refused' },
});
const refundUnresolved = (refundToken: string): PaymentEvent => ({
  type: 'RefundUnresolved',
  data: { refundToken, reason: 'timeout' },
});
const revisedTo = (
  to: 'approved' | 'declined' | 'expired' | 'refunded',
  data: object = {},
): PaymentEvent => ({
  type: 'FinalStatusRevised',
  data: { from: 'approved', to, ...data },
});

type LaterEvent = Exclude<PaymentEvent, { type: BeginningType }>;
const isBeginning = ({ type }: PaymentEvent) => type === 'PaymentRequested' || type === 'PaymentAdopted';
const laterEvents = Object.values(sampleEvents).filter((event): event is LaterEvent => !isBeginning(event));

/** A refund outcome needs a refund; one is planted in phases that allow none. */
function paymentIn(phase: PaymentPhase): Payment {
  const payment = paymentAfter(historyTo[phase]);
  return {
    ...payment,
    refunds: [{ ...refundSubmitted('refund-1', 300).data, state: 'submitted' }],
    captureOrVoid: { ...announcedCall, operation: 'capture', number: 1, state: 'submitted' },
  };
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

test.each(laterEvents)('$type before the first event breaks the stream', (event) => {
  expect(() => evolve(undefined, event)).toThrow(InvariantViolation);
});

describe.each(paymentPhases)('in phase %s', (phase) => {
  test('the history of the sample leads there', () => {
    expect(paymentAfter(historyTo[phase]).phase).toBe(phase);
  });

  test.each([requested(), adopted()])('a second $type breaks the stream', (event) => {
    expect(() => evolve(paymentAfter(historyTo[phase]), event)).toThrow(InvariantViolation);
  });

  test.each(laterEvents)("$type leads to the machine's next state, or breaks the stream", (sample) => {
    const event: LaterEvent = sample.type === 'RefundSubmitted' ? refundSubmitted('refund-2', 100) : sample;
    const payment = frozen(paymentIn(phase));
    const next = paymentWalk.next(machineStateOf(payment), toMachineEvent(payment, event));
    if (next === undefined) expect(() => evolve(payment, event)).toThrow(InvariantViolation);
    else expect(machineStateOf(evolve(payment, event)).lifecycle).toBe(next.lifecycle);
  });
});

// --- Attempts

test('the latest attempt, its token and its page are kept', () => {
  const history = [
    requested(),
    sampleEvents.AttemptNotSent,
    sampleEvents.AttemptStarted,
    sampleEvents.AttemptAccepted,
  ];
  expect(paymentAfter(history)).toMatchObject({
    attempt: attempt(2),
    serviceToken: 'token-a',
    processingUrl: 'https://pay.example/a',
  });
});

test('the errors of a refused attempt are kept until an attempt is accepted', () => {
  const refused = [requested(), sampleEvents.AttemptRefused];
  expect(paymentAfter(refused).errors).toEqual(sampleEvents.AttemptRefused.data.errors);
  expect(paymentAfter([...refused, sampleEvents.PaymentFailed]).errors).toHaveLength(1);
  expect(
    paymentAfter([...refused, sampleEvents.AttemptStarted, sampleEvents.AttemptAccepted]).errors,
  ).toEqual([]);
});

test('the reason of a failure is kept until the payment turns out to be made', () => {
  expect(paymentAfter(historyTo.failed).failure).toBe('refused');
  const turnedUp = revisedTo('approved', { amount: 1000, serviceToken: 'token-a' });
  expect(paymentAfter([...historyTo.failed, turnedUp])).not.toHaveProperty('failure');
});

// --- Sums

test.each<[PaymentEventType, Partial<Payment>]>([
  ['PaymentAuthorized', { authorizedAmount: 1000, approvedAmount: 0 }],
  ['PaymentApproved', { authorizedAmount: 0, approvedAmount: 1000 }],
  ['PaymentDeclined', { authorizedAmount: 0, approvedAmount: 0, declineReason: 'do_not_honor' }],
])('%s sets the sums and keeps the mask', (type, expected) => {
  expect(evolve(paymentAfter(historyTo.pending), sampleEvents[type])).toMatchObject({
    ...expected,
    sanitizedMask: '439296******1251',
  });
});

test.each(['PaymentApproved', 'PaymentDeclined', 'PaymentExpired'] as const)(
  'after %s nothing is authorized',
  (type) => {
    expect(paymentAfter(historyTo.authorized).authorizedAmount).toBe(1000);
    expect(evolve(paymentAfter(historyTo.authorized), sampleEvents[type]).authorizedAmount).toBe(0);
  },
);

test('the approved amount counts, not the requested one', () => {
  const history: PaymentEvent[] = [...historyTo.init, { type: 'PaymentApproved', data: { amount: 400 } }];
  expect(paymentAfter(history).approvedAmount).toBe(400);
  expect(paymentAfter([...history, externalRefund(399)]).phase).toBe('approved');
  expect(paymentAfter([...history, externalRefund(400)]).phase).toBe('refunded');
});

test.each([
  ['approved', { amount: 400 }, 400],
  ['approved', {}, 1000],
  ['refunded', { amount: 400 }, 400],
  ['declined', {}, 0],
  ['declined', { amount: 400 }, 0],
  ['expired', {}, 0],
] as const)('after a revision to %s %j, %d is approved', (to, data, approvedAmount) => {
  const payment = paymentAfter([...historyTo.approved, revisedTo(to, data)]);
  expect(payment).toMatchObject({ phase: to, approvedAmount, authorizedAmount: 0 });
});

test('a revision has its own reason or none, and the token if there was none', () => {
  expect(
    paymentAfter([...historyTo.approved, revisedTo('declined', { declineReason: 'fraud' })]),
  ).toMatchObject({
    serviceToken: 'token-a',
    declineReason: 'fraud',
  });
  const declined: PaymentEvent[] = [...historyTo.init, sampleEvents.PaymentDeclined];
  expect(paymentAfter([...declined, revisedTo('approved')])).not.toHaveProperty('declineReason');
  const turnedUp = revisedTo('approved', { amount: 1000, serviceToken: 'token-z' });
  expect(paymentAfter([...historyTo.failed, turnedUp]).serviceToken).toBe('token-z');
});

// --- Refunds

const approved = historyTo.approved;

test.each([
  ['approved', refundApproved('refund-1'), 300],
  ['declined', refundDeclined('refund-1'), 0],
])('a refund that is %s no longer reserves anything', (state, event, refundedAmount) => {
  for (const between of [[], [refundUnresolved('refund-1')]]) {
    const payment = paymentAfter([...approved, refundSubmitted('refund-1', 300), ...between, event]);
    expect(reservedAmount(payment)).toBe(0);
    expect(payment).toMatchObject({
      refundedAmount,
      refunds: [{ refundToken: 'refund-1', amount: 300, state }],
    });
  }
});

test('refunds add up, ours and foreign ones, each by its own token', () => {
  const history = [
    ...approved,
    refundSubmitted('refund-1', 100),
    refundDeclined('refund-1'),
    refundSubmitted('refund-2', 200),
    refundApproved('refund-2'),
    refundSubmitted('refund-3', 400),
    refundUnresolved('refund-3'),
    externalRefund(50),
  ];
  expect(reservedAmount(paymentAfter(history))).toBe(400);
  expect(paymentAfter(history)).toMatchObject({ phase: 'approved', refundedAmount: 250 });
});

test('the payment is refunded when the sum reaches the approved amount, and not before', () => {
  const history = [...approved, refundSubmitted('refund-1', 999), refundApproved('refund-1')];
  expect(paymentAfter(history)).toMatchObject({ phase: 'approved', refundedAmount: 999 });
  expect(paymentAfter([...history, externalRefund(1)])).toMatchObject({
    phase: 'refunded',
    refundedAmount: 1000,
  });
});

test('a refund in flight at a revision is settled, and does not make the payment refunded', () => {
  const history = [
    ...approved,
    refundSubmitted('refund-1', 1000),
    revisedTo('declined'),
    refundApproved('refund-1'),
  ];
  expect(paymentAfter(history)).toMatchObject({ phase: 'declined', approvedAmount: 0, refundedAmount: 1000 });
});

const twice = [...approved, refundSubmitted('refund-1', 300), refundApproved('refund-1')];

test.each<[string, PaymentEvent[]]>([
  ['PaymentApproved occurred before the first event', [sampleEvents.PaymentApproved]],
  ['PaymentRequested occurred after the first event', [requested(), requested()]],
  ['PaymentAdopted occurred after the first event', [requested(), adopted()]],
  ['a call without a submission was settled', [...historyTo.authorized, sampleEvents.CaptureRefused]],
  ['a refund was submitted twice', [...twice, refundSubmitted('refund-1', 300)]],
  ['a refund without a submission was settled', [...approved, refundApproved('refund-1')]],
  ['a refund was settled twice', [...twice, refundSubmitted('refund-2', 1), refundApproved('refund-1')]],
])('a broken stream: %s', (problem, history) => {
  expect(() => fold(history)).toThrow(new InvariantViolation(problem));
});

test('after a review of a capture without an outcome, submissions are counted from zero', () => {
  const again = [
    ...historyTo.capturing,
    sampleEvents.CaptureUnresolved,
    sampleEvents.CaptureSubmitted,
    sampleEvents.CaptureUnresolved,
  ];
  const reviewed = (code: 'capture_unresolved' | 'service_not_readable') =>
    paymentAfter([
      ...again,
      { type: 'ReviewOpened', data: { code, evidence: {} } },
      { type: 'ReviewResolved', data: { code, number: 1, resolution: 'check_again', reason: 'asked' } },
    ]).captureOrVoid;
  expect(paymentAfter(again).captureOrVoid).toMatchObject({ number: 2, repeats: 1 });
  expect(reviewed('service_not_readable')).toMatchObject({ number: 2, repeats: 1 });
  expect(reviewed('capture_unresolved')).toMatchObject({ number: 2, repeats: 0 });
});

test('an unresolved refund keeps its unconfirmed errors until it is settled', () => {
  const errors = [apiError('processing_error')];
  const unresolved: PaymentEvent = {
    type: 'RefundUnresolved',
    data: { refundToken: 'refund-1', reason: 'timeout', errors },
  };
  const history = [...approved, refundSubmitted('refund-1', 300), unresolved];
  expect(paymentAfter(history).refunds).toMatchObject([{ unconfirmed: errors }]);
  expect(paymentAfter([...history, refundApproved('refund-1')]).refunds[0]).not.toHaveProperty('unconfirmed');
});
