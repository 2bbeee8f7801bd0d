import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exampleDispute } from '../dispute.ts';
import { exampleOf } from './public-topics.ts';
import { type RecordSubject, cloudEventType, type EncodedRecord } from './record-format.ts';
import { decodeDisputeRecord, decodePaymentRecord, decodePayoutRecord, encodeRecord } from './records.ts';
import { decodeCallbackRecord } from './callback-records.ts';

const approved = exampleOf('tollgate.payment.approved.v1');
const paidOut = exampleOf('tollgate.payout.approved.v1');
const opened = exampleOf('tollgate.dispute.opened.v1');

const valueOf = ({ value }: EncodedRecord) => JSON.parse(new TextDecoder().decode(value));
const withValue = (record: EncodedRecord, value: unknown): EncodedRecord => ({
  ...record,
  value: new TextEncoder().encode(JSON.stringify(value)),
});

describe('a record', () => {
  it.each<[RecordSubject, EncodedRecord, string, (record: EncodedRecord) => object]>([
    ['payment', approved, 'tollgate.payment.approved.v1', decodePaymentRecord],
    ['payout', paidOut, 'tollgate.payout.approved.v1', decodePayoutRecord],
    ['dispute', opened, 'tollgate.dispute.opened.v1', decodeDisputeRecord],
  ])(
    'of a %s is a CloudEvent in binary mode, keyed by it, and read back as written',
    (subject, record, type, decode) => {
      const { token } = valueOf(record)[subject];
      expect(record.key).toBe(token);
      expect(record.headers).toEqual({
        'content-type': 'application/json',
        ce_specversion: '1.0',
        ce_id: '3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f',
        ce_type: type,
        ce_source: `/tollgate/${subject}s`,
        ce_subject: token,
        ce_time: valueOf(record).event.time,
        ce_sequence: '0000000003',
        ce_correlationid: '9b2c7d4e-1f3a-4b5c-8d6e-7f8091a2b3c4',
        tollgate_position: '00000000000000000042',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      });
      expect(decode(record)).toEqual({ kind: 'record', record: valueOf(record) });
    },
  );

  it('may have new fields and phases that this version does not know', () => {
    const { event, payment } = valueOf(approved);
    const later = { ...payment, phase: 'split' };
    const record = withValue(approved, { event, payment: { ...later, parts: 2 }, more: true });
    expect(decodePaymentRecord(record)).toEqual({ kind: 'record', record: { event, payment: later } });
  });

  it('of a payout shows a destination only in masked form', () => {
    const { event, payout } = valueOf(paidOut);
    const destination = { ...payout.destination, pan: '4392963203551251' };
    expect(decodePayoutRecord(withValue(paidOut, { event, payout: { ...payout, destination } }))).toEqual({
      kind: 'record',
      record: { event, payout },
    });
  });

  it('of a dispute has the same key before and after its payment is known', () => {
    const { event } = valueOf(opened);
    const shown = { ...exampleDispute, team: 'demo', paymentToken: 'pay_1' };
    expect(encodeRecord('dispute', event, { shown, origin: { position: '7' } }).key).toBe(opened.key);
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
