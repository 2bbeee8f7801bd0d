import { expect, it } from 'vitest';
import { type DisputeRecord, decodeDisputeRecord, encodeDisputeRecord } from './dispute-records.ts';

const record: DisputeRecord = {
  event: {
    ...{
      id: '3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f',
      type: 'DisputeMatched',
      time: '2030-01-01T00:00:00.000Z',
    },
    ...{ sequence: 1, correlationId: 'c', data: { paymentToken: 'pay_1' } },
  },
  dispute: {
    ...{ token: 'dsp_1', id: 'D-1', environment: 'sandbox', team: 'demo', paymentToken: 'pay_1' },
    ...{ amount: 300, currency: 'EUR', status: 'open', type: 'chargeback' },
    ...{ createdAt: '2030-01-01T00:00:00.000Z', updatedAt: '2030-01-01T00:00:01.000Z' },
  },
};

it('is a CloudEvent about the dispute, keyed by it from its first event to its last', () => {
  const { team: _, paymentToken: __, ...unmatched } = record.dispute;
  const origin = { position: '0007' };
  const keys = [{ ...record, dispute: unmatched }, record].map(
    (each) => encodeDisputeRecord(each, origin).key,
  );
  expect(keys).toEqual(['dsp_1', 'dsp_1']);
  expect(encodeDisputeRecord(record, origin).headers).toMatchObject({
    ...{ ce_type: 'tollgate.dispute.matched.v1', ce_source: '/tollgate/disputes', ce_subject: 'dsp_1' },
  });
});

it('comes back as it was written', () => {
  const encoded = encodeDisputeRecord(record, { position: '0007' });
  expect(decodeDisputeRecord(encoded)).toEqual({ kind: 'record', record });
});
