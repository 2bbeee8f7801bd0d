import { expect, test } from 'vitest';
import {
  adopted,
  announcedCall,
  attempt,
  historyTo,
  paymentAfter,
  refundSubmitted,
  sampleEvents,
} from '../testing/samples.ts';
import { InvariantViolation } from '../invariant.ts';
import { callAnnouncedBy } from './announced-call.ts';
import type { PaymentEvent, PaymentEventType } from './payment-events.ts';

const announcedBy = (before: readonly PaymentEvent[], events: readonly PaymentEvent[]) =>
  callAnnouncedBy(events, paymentAfter([...before, ...events]));

const windowOf = (number: number) => {
  const { sendBy, answerBy, quietUntil } = attempt(number);
  return { sendBy, answerBy, quietUntil };
};

test('a request announces the call of its first attempt', () => {
  expect(announcedBy([], historyTo.requested)).toEqual({
    operation: 'authorize',
    account: 'main',
    attemptNumber: 1,
    providerOrderNumber: 'pay_1.1',
    window: windowOf(1),
  });
});

test('a further attempt announces its own call, on its own account', () => {
  const second: PaymentEvent = {
    type: 'AttemptStarted',
    data: { attempt: attempt(2, { account: 'spare' }) },
  };
  expect(announcedBy(historyTo.requested, [sampleEvents.AttemptNotSent, second])).toEqual({
    operation: 'authorize',
    account: 'spare',
    attemptNumber: 2,
    providerOrderNumber: 'pay_1.2',
    window: windowOf(2),
  });
});

test.each([
  ['capture', 'CaptureSubmitted', 'CaptureUnresolved'],
  ['void', 'VoidSubmitted', 'VoidUnresolved'],
] as const)('each submission to %s announces its own call', (operation, submitted, unresolved) => {
  const once = [...historyTo.authorized, sampleEvents[submitted]];
  const call = { operation, account: 'main', window: announcedCall };
  expect(announcedBy(historyTo.authorized, [sampleEvents[submitted]])).toEqual({ ...call, submission: 1 });
  expect(announcedBy(once, [sampleEvents[unresolved], sampleEvents[submitted]])).toEqual({
    ...call,
    submission: 2,
  });
});

test('a refund announces the call with its amount, on the account that took the payment', () => {
  expect(announcedBy(historyTo.approved, [refundSubmitted('refund-1', 300)])).toEqual({
    operation: 'refund',
    account: 'main',
    refundToken: 'refund-1',
    amount: 300,
    window: announcedCall,
  });
});

test('a later event of the same append does not hide it', () => {
  const events = [sampleEvents.CaptureSubmitted, sampleEvents.ReviewResolved];
  expect(announcedBy(historyTo.authorized, events)).toMatchObject({ operation: 'capture' });
});

const announcing: PaymentEventType[] = [
  ...(['PaymentRequested', 'AttemptStarted', 'RefundSubmitted'] as const),
  ...(['CaptureSubmitted', 'VoidSubmitted'] as const),
];

test('no other event announces a call', () => {
  const payment = paymentAfter(historyTo.capturing);
  for (const event of Object.values(sampleEvents))
    if (!announcing.includes(event.type)) expect(callAnnouncedBy([event], payment)).toBeUndefined();
  expect(callAnnouncedBy([], payment)).toBeUndefined();
});

test('a submission that the payment does not have breaks the stream', () => {
  const payment = paymentAfter(historyTo.authorized);
  expect(() => callAnnouncedBy([sampleEvents.CaptureSubmitted], payment)).toThrow(InvariantViolation);
});

test('an adoption announces no call', () => {
  expect(announcedBy([], [adopted()])).toBeUndefined();
});
