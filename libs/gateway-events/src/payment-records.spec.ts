import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCallbackRecord, decodeDlqRecord } from './callback-records.ts';
import { decodeDisputeRecord } from './dispute-records.ts';
import { type PaymentRecord, decodePaymentRecord, encodePaymentRecord } from './payment-records.ts';
import { decodePayoutRecord } from './payout-records.ts';
import { type RecordSubject, cloudEventType } from './record-format.ts';

const record: PaymentRecord = {
  event: {
    id: '3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f',
    type: 'PaymentApproved',
    time: '2030-01-01T00:00:00.000Z',
    sequence: 3,
    correlationId: 'c',
    data: { amount: 1250 },
  },
  payment: {
    ...{ token: 'pay_1', environment: 'sandbox', team: 'demo', status: 'approved', phase: 'approved' },
    ...{ product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1', needConfirmation: false },
    ...{ heldAmount: 0, approvedAmount: 1250, refundedAmount: 100, errors: [], reviews: [] },
    refunds: [{ token: 'ref_1', amount: 100, status: 'approved', phase: 'approved' }],
    ...{ createdAt: '2030-01-01T00:00:00.000Z', updatedAt: '2030-01-01T00:00:01.000Z' },
  },
};

describe('a payment record', () => {
  it('is a CloudEvent in binary mode, keyed by the payment', () => {
    const { key, headers } = encodePaymentRecord(record, { position: '0007', traceparent: 't' });
    expect(key).toBe('pay_1');
    expect(headers).toEqual({
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: record.event.id,
      ce_type: 'tollgate.payment.approved.v1',
      ce_source: '/tollgate/payments',
      ce_subject: 'pay_1',
      ce_time: record.event.time,
      ce_sequence: '3',
      tollgate_position: '0007',
      traceparent: 't',
    });
  });

  it('comes back as it was written', () => {
    const encoded = encodePaymentRecord(record, { position: '0007' });
    expect(decodePaymentRecord(encoded)).toEqual({ kind: 'record', record });
  });

  it('may have gained fields that this version does not know', () => {
    const value = new TextEncoder().encode(JSON.stringify({ ...record, later: true }));
    expect(decodePaymentRecord({ key: 'pay_1', value, headers: {} })).toEqual({ kind: 'record', record });
  });

  it('that misses a field is unreadable, and says which', () => {
    const value = new TextEncoder().encode(
      JSON.stringify({ ...record, payment: { ...record.payment, status: 'paid' } }),
    );
    expect(decodePaymentRecord({ key: 'pay_1', value, headers: {} })).toMatchObject({
      kind: 'unreadable',
      reason: expect.stringContaining('payment.status'),
    });
  });
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

it('decoders never throw, whatever is on the topic', () => {
  const headers = fc.dictionary(fc.string(), fc.string());
  const value = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => new TextEncoder().encode(text)),
  );
  fc.assert(
    fc.property(fc.string(), value, headers, (key, bytes, given) => {
      const encoded = { key, value: bytes, headers: given };
      expect(['callback', 'unreadable']).toContain(decodeCallbackRecord(encoded).kind);
      expect(['dead-lettered', 'replayed']).toContain(decodeDlqRecord(encoded).kind);
      for (const decode of [decodePaymentRecord, decodePayoutRecord, decodeDisputeRecord])
        expect(['record', 'unreadable']).toContain(decode(encoded).kind);
    }),
  );
});
