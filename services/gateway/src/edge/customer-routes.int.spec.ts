import { customerStream, paymentStream } from '@tollgate/core';
import { systemIds } from '@tollgate/service-kit';
import type { OperatorRole } from '@tollgate/teams';
import { describe, expect, it } from 'vitest';
import { startApi } from './testing/api.ts';

const event = (type: string) => ({ id: systemIds.uuid(), type, data: {}, metadata: {} });

describe('the stored data of a customer', () => {
  it('is erased permanently by an admin, who is recorded, and the payment stays', async () => {
    const { askAs, store } = await startApi();
    const ask = (path: string, role: OperatorRole = 'admin') => askAs(role, path, {});
    await store.append(paymentStream('pay_1'), [event('PaymentRequested')], 'no-stream');
    await store.append(customerStream('pay_1'), [event('CustomerKept')], 'no-stream');
    expect((await ask('payments/pay_1/forget', 'operator')).statusCode).toBe(403);
    for (const wasKept of [true, false])
      expect((await ask('payments/pay_1/forget')).json()).toEqual({
        success: true,
        wasKept,
        remains: {},
        places: expect.arrayContaining(['the Payment Service']),
      });
    expect(await Array.fromAsync(store.read(customerStream('pay_1')))).toEqual([]);
    const [noted] = await Array.fromAsync(store.read('customers-forgotten'));
    expect(noted).toMatchObject({ data: { paymentToken: 'pay_1' }, metadata: { actor: { name: 'ada' } } });
    for (const token of ['pay_9', 'po_1', '..%2Fx'])
      expect((await ask(`payments/${token}/forget`)).statusCode).toBe(404);
  });
});
