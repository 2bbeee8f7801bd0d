import { decodePaymentEvent, type PaymentEvent } from '@tollgate/core';
import { type PaymentView, paymentKind } from './view-kinds.ts';
import {
  anyHistory,
  happening,
  processingUrl,
  requested,
  toRecordedEvents,
} from './testing/payment-histories.ts';
import { planted } from './testing/histories.ts';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  publicPayment,
  toPublicPayment,
  toRecordedPayment,
  toPublicEventData,
  toPublicReviewEntry,
  toPublicEvidence,
} from '@tollgate/gateway-api';

const viewOf = (...events: PaymentEvent[]) =>
  toRecordedEvents(events).reduce<PaymentView | undefined>(paymentKind.fold, undefined)!;
const shown = (...events: PaymentEvent[]) =>
  toPublicPayment(viewOf(requested({ orderNumber: 'A-1' }), ...events));

test('a team sees its terms, the state in both vocabularies, and the sums', () => {
  expect(shown(happening.accepted)).toEqual({
    token: 'pay_1',
    status: 'init',
    phase: 'init',
    product: 'Tea',
    amount: 1_500,
    currency: 'EUR',
    orderNumber: 'A-1',
    needConfirmation: false,
    processingUrl,
    heldAmount: 0,
    approvedAmount: 0,
    refundedAmount: 0,
    disputedAmount: 0,
    lostAmount: 0,
    refunds: [],
    reviews: [],
    errors: [],
    createdAt: '2026-01-02T03:04:05.000Z',
    updatedAt: '2026-01-02T03:04:06.000Z',
    revision: 1,
  });
});

test('the processing URL is shown only while the customer can act on the page', () => {
  const { accepted, pending, held, approved } = happening;
  expect(shown(accepted, pending).processingUrl).toBe(processingUrl);
  expect(shown(accepted, held)).not.toHaveProperty('processingUrl');
  expect(shown(accepted, approved)).not.toHaveProperty('processingUrl');
});

test('a refund of unknown outcome is pending', () => {
  const { accepted, approved, refunding, refundUnresolved, refundApproved } = happening;
  const unresolved = shown(accepted, approved, refunding, refundUnresolved).refunds;
  expect(unresolved).toEqual([
    {
      token: 'ref_1',
      amount: 500,
      currency: 'EUR',
      status: 'pending',
      phase: 'unresolved',
      errors: [],
      createdAt: '2026-01-02T03:04:08.000Z',
      updatedAt: '2026-01-02T03:04:09.000Z',
    },
  ]);
  expect(shown(accepted, approved, refunding, refundApproved)).toMatchObject({
    refundedAmount: 500,
    disputedAmount: 0,
    lostAmount: 0,
    refunds: [{ status: 'approved' }],
  });
});

test('the errors of a failed creation are shown, without the text of those about our account', () => {
  expect(shown(happening.refused).errors).toEqual([]);
  expect(shown(happening.refused, happening.failed)).toMatchObject({
    status: 'declined',
    phase: 'failed',
    errors: [
      { code: 'incorrect_private_key', kind: 'authentication_error' },
      { code: 'invalid_param', kind: 'invalid_request_error', message: 'no', parameter: 'product' },
    ],
  });
});

test('evidence is masked unless it is known to be harmless', () => {
  const evidence = {
    serviceToken: 'svc-0123456789',
    knownServiceToken: null,
    observedAmount: 7,
    sumUnknown: true,
    other: 'short',
    more: 12,
  };
  expect(toPublicEvidence(evidence)).toEqual({
    serviceToken: '…6789',
    observedAmount: '7',
    sumUnknown: 'true',
    other: '…',
    more: '…',
  });
});

test('no planted secret is ever shown, in any payment or event', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const recorded = toRecordedEvents(history);
      const view = viewOf(...history);
      const data = recorded.map((event) => toPublicEventData(decodePaymentEvent(event)));
      const text = JSON.stringify([toPublicPayment(view), toRecordedPayment(view), data]);
      expect(text).not.toContain(planted);
      expect(text).not.toContain('192.0.2.1');
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('the data of every type of event can be shown', () => {
  for (const event of [requested(), ...Object.values(happening)])
    expect(toPublicEventData(decodePaymentEvent(event))).toBeTypeOf('object');
});

test('a review has the same number in the payment, in the list, in the events and in a resolution', () => {
  const { accepted, reviews, reviewResolved } = happening;
  const first = { ...reviewResolved, data: { ...reviewResolved.data, number: 1 } };
  const history = [requested(), accepted, reviews, reviews, reviews, first];
  const view = viewOf(...history);
  expect(toPublicPayment(view).reviews.map(({ number }) => number)).toEqual([2, 3]);
  const entry = toPublicReviewEntry({ kind: 'payment', view, place: 1, since: 0 });
  expect(entry).toMatchObject({ code: 'discrepancy', number: 3 });
  expect(toPublicEventData(first)).toMatchObject({ code: 'discrepancy', number: 1 });
});

test('answers match their schemas exactly, in any state', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const shown = toPublicPayment(viewOf(...history));
      expect(publicPayment.answer.parse(shown)).toEqual(shown);
    }),
  );
});
