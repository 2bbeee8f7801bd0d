import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCallbackRecord } from '@tollgate/core';
import { type RecordSubject, cloudEventType, type EventOnTopic } from './record-format.ts';
import {
  type RecordOf,
  decodeDisputeRecord,
  decodePaymentRecord,
  decodePayoutRecord,
  encodeRecord,
} from './records.ts';

const eventOf = (type: string, sequence: number, data: Record<string, unknown>): EventOnTopic => ({
  id: '3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f',
  type,
  time: '2030-01-01T00:00:00.000Z',
  sequence,
  correlationId: 'c',
  data,
});
const age = { createdAt: '2030-01-01T00:00:00.000Z', updatedAt: '2030-01-01T00:00:01.000Z' };
const origin = { position: '0007' };
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

const event = eventOf('PaymentApproved', 3, { amount: 1250 });
const payment: RecordOf<'payment'>['payment'] = {
  token: 'pay_1',
  environment: 'sandbox',
  team: 'demo',
  status: 'approved',
  phase: 'approved',
  product: 'Tea',
  amount: 1250,
  currency: 'EUR',
  orderNumber: 'order-1',
  needConfirmation: false,
  heldAmount: 0,
  approvedAmount: 1250,
  refundedAmount: 100,
  disputedAmount: 0,
  lostAmount: 0,
  errors: [],
  reviews: [],
  refunds: [{ token: 'ref_1', amount: 100, status: 'approved', phase: 'approved', ...age }],
  revision: 3,
  ...age,
};
const record = { event, payment };

describe('a payment record', () => {
  it('is a CloudEvent in binary mode, keyed by the payment', () => {
    const { key, headers } = encodeRecord('payment', event, {
      shown: payment,
      origin: { ...origin, traceparent: 't' },
    });
    expect(key).toBe('pay_1');
    expect(headers).toEqual({
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: 'tollgate.payment.approved.v1',
      ce_source: '/tollgate/payments',
      ce_subject: 'pay_1',
      ce_time: event.time,
      ce_sequence: '0000000003',
      ce_correlationid: 'c',
      tollgate_position: '0007',
      traceparent: 't',
    });
  });

  it('is read back as written', () => {
    const encoded = encodeRecord('payment', event, { shown: payment, origin });
    expect(decodePaymentRecord(encoded)).toEqual({ kind: 'record', record });
  });

  it('may have new fields and phases that this version does not know', () => {
    const later = { ...payment, phase: 'split' };
    const value = bytesOf({ event, payment: { ...later, parts: 2 }, more: true });
    expect(decodePaymentRecord({ key: 'pay_1', value, headers: {} })).toEqual({
      kind: 'record',
      record: { event, payment: later },
    });
  });

  it('that lacks a field is unreadable, and the reason names the field', () => {
    const value = bytesOf({ ...record, payment: { ...payment, status: 'paid' } });
    expect(decodePaymentRecord({ key: 'pay_1', value, headers: {} })).toMatchObject({
      kind: 'unreadable',
      reason: expect.stringContaining('payment.status'),
    });
  });
});

describe('a payout record', () => {
  const approved = eventOf('PayoutApproved', 2, {});
  const payout: RecordOf<'payout'>['payout'] = {
    token: 'po_1',
    environment: 'sandbox',
    team: 'demo',
    status: 'approved',
    phase: 'approved',
    amount: 300,
    currency: 'EUR',
    orderNumber: 'P-1',
    errors: [],
    reviews: [],
    destination: { kind: 'bankAccount', bankName: 'Bank', accountEnding: '4321' },
    revision: 2,
    ...age,
  };

  it('is a CloudEvent about the payout, keyed by it, and is read back as written', () => {
    const encoded = encodeRecord('payout', approved, { shown: payout, origin });
    expect(encoded.key).toBe('po_1');
    expect(encoded.headers).toMatchObject({
      ce_type: 'tollgate.payout.approved.v1',
      ce_source: '/tollgate/payouts',
      ce_subject: 'po_1',
      ce_sequence: '0000000002',
      tollgate_position: '0007',
    });
    expect(decodePayoutRecord(encoded)).toEqual({ kind: 'record', record: { event: approved, payout } });
  });

  it('shows a destination only in masked form', () => {
    const destination = { ...payout.destination, accountNumber: 'DE02120300000000202051' };
    const value = bytesOf({ event: approved, payout: { ...payout, destination } });
    expect(decodePayoutRecord({ key: 'po_1', value, headers: {} })).toEqual({
      kind: 'record',
      record: { event: approved, payout },
    });
  });
});

it('a dispute record is keyed by the dispute from its first event to its last', () => {
  const matched = eventOf('DisputeMatched', 1, { paymentToken: 'pay_1' });
  const opened: RecordOf<'dispute'>['dispute'] = {
    token: 'dsp_1',
    id: 'D-1',
    environment: 'sandbox',
    amount: 300,
    currency: 'EUR',
    status: 'open',
    reportedStatus: 'pending',
    type: 'chargeback',
    ...age,
  };
  const dispute = { ...opened, team: 'demo', paymentToken: 'pay_1' };
  const [before, after] = [opened, dispute].map((shown) =>
    encodeRecord('dispute', matched, { shown, origin }),
  );
  expect([before?.key, after?.key]).toEqual(['dsp_1', 'dsp_1']);
  expect(after?.headers).toMatchObject({
    ce_type: 'tollgate.dispute.matched.v1',
    ce_source: '/tollgate/disputes',
    ce_subject: 'dsp_1',
  });
  expect(decodeDisputeRecord(after!)).toEqual({ kind: 'record', record: { event: matched, dispute } });
});

it.each<[string, RecordSubject, string]>([
  ['PaymentApproved', 'payment', 'tollgate.payment.approved.v1'],
  ['AttemptNotFound', 'payment', 'tollgate.payment.attempt-not-found.v1'],
  ['FinalStatusRevised', 'payment', 'tollgate.payment.final-status-revised.v1'],
  ['RefundSubmitted', 'payment', 'tollgate.payment.refund-submitted.v1'],
  ['PayoutApproved', 'payout', 'tollgate.payout.approved.v1'],
  ['FinalStatusRevised', 'payout', 'tollgate.payout.final-status-revised.v1'],
  ['DisputeOpened', 'dispute', 'tollgate.dispute.opened.v1'],
])('%s of a %s is the CloudEvent type %s', (type, subject, expected) => {
  expect(cloudEventType(type, subject)).toBe(expected);
});

it('decoders never throw, with any content of the topic', () => {
  const headers = fc.dictionary(fc.string(), fc.string());
  const value = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => new TextEncoder().encode(text)),
  );
  fc.assert(
    fc.property(fc.string(), value, headers, (key, bytes, given) => {
      const encoded = { key, value: bytes, headers: given };
      expect(['callback', 'unreadable']).toContain(decodeCallbackRecord(encoded).kind);
      for (const decode of [decodePaymentRecord, decodePayoutRecord, decodeDisputeRecord])
        expect(['record', 'unreadable']).toContain(decode(encoded).kind);
    }),
  );
});
