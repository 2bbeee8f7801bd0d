import { paymentKind } from '@tollgate/views';
import { happening, requested } from '@tollgate/views/testing';
import { expect, test } from 'vitest';
import { listRefunds } from './index-refunds.ts';
import { givenExplainedFile, givenFile, pageOf, viewOf } from './testing/open-index-file.ts';

const shop = { environment: 'sandbox', team: 'shop', perPage: 10 } as const;
const { accepted, approved, refunding, refundUnresolved, refundApproved } = happening;
const refunded = [requested(), accepted, approved, refunding] as const;

const statesIn = (file: Parameters<typeof listRefunds>[0], phase?: string) =>
  pageOf(listRefunds(file, { ...shop, owners: [shop], ...(phase && { phase }) })).views.map(
    ({ refund }) => refund.state,
  );

test('a refund is listed under its latest state only', () => {
  const file = givenFile();
  for (const events of [
    refunded,
    [...refunded, refundUnresolved],
    [...refunded, refundUnresolved, refundApproved],
  ]) {
    file.plant([viewOf(paymentKind, 'pay_1', events)]);
    const [state] = statesIn(file);
    for (const phase of ['submitted', 'unresolved', 'approved'])
      expect(statesIn(file, phase), phase).toEqual(phase === state ? [state] : []);
  }
  expect(statesIn(file)).toEqual(['approved']);
});

test('every combination of filters is answered from indexes, without sorting', async () => {
  const { file, steps } = await givenExplainedFile();
  for (const state of [{}, { status: 'pending' }, { phase: 'approved' }])
    for (const currency of [{}, { currency: 'EUR' }])
      for (const payment of [{}, { paymentToken: 'pay_1' }])
        for (const age of [{}, { createdFrom: 1 }, { createdBefore: 5 }])
          for (const order of [{}, { order: 'oldest' as const }]) {
            listRefunds(file, {
              ...shop,
              ...state,
              ...currency,
              ...payment,
              ...age,
              ...order,
              owners: [shop],
            });
          }
  const leading = steps.filter((step) => !/^(MERGE|LEFT|RIGHT|COMPOUND|CO-ROUTINE|SCAN \d)/.test(step));
  for (const step of leading) expect(step).toMatch(/^SEARCH refunds USING COVERING INDEX refunds_by_/);
  expect(leading.length).toBeGreaterThanOrEqual(72);
});
