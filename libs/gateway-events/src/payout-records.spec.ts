import { expect, it } from 'vitest';
import { type PayoutRecord, decodePayoutRecord, encodePayoutRecord } from './payout-records.ts';

const record: PayoutRecord = {
  event: {
    ...{
      id: '3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f',
      type: 'PayoutApproved',
      time: '2030-01-01T00:00:00.000Z',
    },
    ...{ sequence: 2, correlationId: 'c', data: {} },
  },
  payout: {
    ...{ token: 'po_1', environment: 'sandbox', team: 'demo', status: 'approved', phase: 'approved' },
    ...{ amount: 300, currency: 'EUR', orderNumber: 'P-1', errors: [], reviews: [] },
    destination: { kind: 'bankAccount', bankName: 'Bank', accountEnding: '4321' },
    ...{ createdAt: '2030-01-01T00:00:00.000Z', updatedAt: '2030-01-01T00:00:01.000Z' },
  },
};

it('is a CloudEvent about the payout, keyed by it', () => {
  const { key, headers } = encodePayoutRecord(record, { position: '0007' });
  expect(key).toBe('po_1');
  expect(headers).toMatchObject({
    ...{ ce_type: 'tollgate.payout.approved.v1', ce_source: '/tollgate/payouts', ce_subject: 'po_1' },
    ...{ ce_sequence: '2', tollgate_position: '0007' },
  });
});

it('comes back as it was written', () => {
  const encoded = encodePayoutRecord(record, { position: '0007' });
  expect(decodePayoutRecord(encoded)).toEqual({ kind: 'record', record });
});

it('shows of a destination only what it is known by', () => {
  const destination = { ...record.payout.destination, accountNumber: 'DE02120300000000202051' };
  const value = new TextEncoder().encode(
    JSON.stringify({ ...record, payout: { ...record.payout, destination } }),
  );
  expect(decodePayoutRecord({ key: 'po_1', value, headers: {} })).toEqual({ kind: 'record', record });
});
