import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exampleOf, publicTopics } from '../topics/public-topics.ts';
import { decodePaymentRecord } from '../topics/records.ts';
import { decodeGatewayRecord } from './gateway-records.ts';
import type { EncodedRecord } from '../topics/record-format.ts';

const approved = exampleOf('tollgate.payment.approved.v1');
const valueOf = ({ value }: EncodedRecord) => JSON.parse(new TextDecoder().decode(value));
const withValue = (record: EncodedRecord, value: unknown): EncodedRecord => ({
  ...record,
  value: new TextEncoder().encode(JSON.stringify(value)),
});
const withType = (type: string): EncodedRecord => ({
  ...approved,
  headers: { ...approved.headers, ce_type: type },
});

describe('decoding a record of any topic', () => {
  it('returns the event with the data of its type, and its subject', () => {
    const decoded = decodeGatewayRecord(approved);
    if (decoded.kind !== 'payment' || decoded.event.type !== 'PaymentApproved')
      throw new Error('another kind');
    // The compiler infers the data of an event from its type.
    const amount: number = decoded.event.data.amount;
    expect([amount, decoded.payment.status, decoded.event.sequence]).toEqual([1250, 'approved', 3]);
  });

  it.each([
    ['tollgate.payout.approved.v1', 'payout'],
    ['tollgate.dispute.opened.v1', 'dispute'],
    ['tollgate.payment.refund-approved.v1', 'payment'],
  ])('decodes %s as an event of a %s', (type, kind) => {
    expect(decodeGatewayRecord(exampleOf(type)).kind).toBe(kind);
  });

  it('ignores fields that were added later, at any depth', () => {
    const value = valueOf(approved);
    const later = {
      ...value,
      later: 1,
      event: { ...value.event, later: 1, data: { ...value.event.data, later: 1 } },
      payment: { ...value.payment, later: 1, reviews: [{ code: 'a', later: 1 }] },
    };
    expect(decodeGatewayRecord(withValue(approved, later))).toEqual({
      ...decodeGatewayRecord(approved),
      payment: { ...value.payment, reviews: [{ code: 'a' }] },
    });
  });

  it.each(['tollgate.payment.split.v1', 'tollgate.payment.approved.v2', 'com.example.other', ''])(
    'reports %j as an unknown type, with any value',
    (type) => {
      const unknown = { kind: 'unknown-type', type };
      expect(decodeGatewayRecord(withType(type))).toEqual(unknown);
      expect(decodeGatewayRecord({ ...withType(type), value: new Uint8Array([0xff]) })).toEqual(unknown);
    },
  );

  it('still reads the payment of an unknown event', () => {
    const value = valueOf(approved);
    const later = withValue(withType('tollgate.payment.split.v1'), {
      ...value,
      event: { ...value.event, type: 'PaymentSplit', data: { parts: [1] } },
    });
    expect(decodeGatewayRecord(later).kind).toBe('unknown-type');
    expect(decodePaymentRecord(later)).toMatchObject({ record: { payment: { status: 'approved' } } });
  });
});

describe('an unreadable record', () => {
  it.each<[string, EncodedRecord, string]>([
    ['has no ce_type', { ...approved, headers: {} }, 'ce_type'],
    ['is no JSON', { ...approved, value: new Uint8Array([0xff]) }, 'JSON'],
    ['has another event than its ce_type says', withType('tollgate.payment.pending.v1'), 'ce_type'],
    [
      'misses a field of the payment',
      withValue(approved, { ...valueOf(approved), payment: {} }),
      'payment.token',
    ],
    [
      'misses a field of the data',
      withValue(approved, { ...valueOf(approved), event: { ...valueOf(approved).event, data: {} } }),
      'event.data.amount',
    ],
  ])('is reported with its reason if it %s', (_, record, named) => {
    const decoded = decodeGatewayRecord(record);
    expect(decoded).toEqual({ kind: 'unreadable', reason: expect.stringContaining(named) });
  });

  it('never throws', () => {
    const types = publicTopics.flatMap(({ messages }) => messages.map(({ type }) => type));
    const json = fc.json().map((text) => new TextEncoder().encode(text));
    const headers = fc.oneof(
      fc.dictionary(fc.string(), fc.string()),
      fc.constantFrom(...types, '__proto__', 'constructor').map((type) => ({ ce_type: type })),
    );
    fc.assert(
      fc.property(fc.string(), fc.oneof(fc.uint8Array(), json), headers, (key, value, given) => {
        expect(['unknown-type', 'unreadable']).toContain(
          decodeGatewayRecord({ key, value, headers: given }).kind,
        );
      }),
    );
  });
});
