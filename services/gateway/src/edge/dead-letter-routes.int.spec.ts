/** Operators' actions on dead-lettered callbacks and on stored customer data. */
import type { EventStore } from '@tollgate/event-store';
import {
  encodeCallbackRecord,
  encodeDeadLetter,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
  customerStream,
  paymentStream,
} from '@tollgate/core';
import { createEmbeddedMessageBus } from '@tollgate/message-bus';
import { recordsOnTopic } from '@tollgate/message-bus/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import type { OperatorRole } from '@tollgate/teams';
import { describe, expect, it } from 'vitest';
import { startApi } from './testing/api.ts';

const busOf = (store: EventStore) =>
  createEmbeddedMessageBus({ store, clock: systemClock, ids: systemIds, log: silentLog, holder: 'spec' });
const callbackOf = (token: string) =>
  encodeCallbackRecord({ environment: 'sandbox', token, body: Buffer.from('{}'), receivedAt: 5 });
const event = (type: string) => ({ id: systemIds.uuid(), type, data: {}, metadata: {} });

async function start(...tokens: string[]) {
  const { askAs, store, recorded } = await startApi();
  const bus = busOf(store);
  await bus.publish(
    providerCallbacksDlqTopic,
    tokens.map((token) => encodeDeadLetter(callbackOf(token), `no payment ${token}`)),
  );
  const ask = (path: string, body?: object | string, role: OperatorRole = 'admin') => askAs(role, path, body);
  const list = async () =>
    (await ask('dead-letters', undefined, 'viewer')).json<{
      deadLetters: { offset: string }[];
      count: number;
    }>();
  const published = async () => (await recordsOnTopic(store, providerCallbacksTopic)).length > 0;
  return { ask, list, published, store, recorded };
}

describe('dead-lettered callbacks', () => {
  it('are listed with place, reason and time, and published again, one or all', async () => {
    const { ask, list, published, recorded } = await start('pay_1', 'pay_2', 'pay_3');
    const { deadLetters, count } = await list();
    expect([count, deadLetters[0]]).toEqual([
      3,
      {
        offset: expect.stringMatching(/^\d+\/\d+$/),
        token: 'pay_1',
        environment: 'sandbox',
        reason: 'no payment pay_1',
        receivedAt: '1970-01-01T00:00:00.005Z',
        isReadable: true,
      },
    ]);
    const { offset = '' } = deadLetters[0] ?? {};
    expect(await published()).toBe(false);
    expect((await ask('dead-letters/replay', { offset }, 'support')).json()).toEqual({
      success: true,
      offsets: [offset],
    });
    expect([await published(), (await list()).count]).toEqual([true, 2]);
    expect((await ask('dead-letters/replay', {})).json<{ offsets: string[] }>().offsets).toHaveLength(2);
    expect(await list()).toEqual({ success: true, deadLetters: [], count: 0 });
    expect(recorded[0]?.command).toBe('POST /api/v1/admin/dead-letters/replay');
  });

  it.each([
    ['a place where none is', { offset: '0/99' }, 404, 'dead_letter_not_found'],
    ['no place', { offset: 'here' }, 400, 'invalid_param'],
    ['another field', { all: true }, 400, 'invalid_param'],
  ])('at %s are refused by name', async (_, body, status, code) => {
    const { ask, published } = await start('pay_1');
    const answer = await ask('dead-letters/replay', body);
    expect([answer.statusCode, await published()]).toEqual([status, false]);
    expect(answer.json<{ errors: { code: string }[] }>().errors[0]?.code).toBe(code);
  });

  // `null` was mistaken for an absent body, which means all of them.
  it('are not published again, all of them, by a body that is no object', async () => {
    const { ask, published } = await start('pay_1');
    const answer = await ask('dead-letters/replay', 'null');
    expect([answer.statusCode, await published()]).toEqual([400, false]);
  });

  it('are read by viewers, and published again only with the role', async () => {
    const { ask } = await start('pay_1');
    expect((await ask('dead-letters/replay', {}, 'viewer')).statusCode).toBe(403);
  });
});

describe('the stored data of a customer', () => {
  it('is erased permanently by an admin, who is recorded, and the payment stays', async () => {
    const { ask, store } = await start();
    await store.append(paymentStream('pay_1'), [event('PaymentRequested')], 'no-stream');
    await store.append(customerStream('pay_1'), [event('CustomerKept')], 'no-stream');
    expect((await ask('payments/pay_1/forget', {}, 'operator')).statusCode).toBe(403);
    for (const wasKept of [true, false])
      expect((await ask('payments/pay_1/forget', {})).json()).toEqual({
        success: true,
        wasKept,
        remains: {},
        places: expect.arrayContaining(['the Payment Service']),
      });
    expect(await Array.fromAsync(store.read(customerStream('pay_1')))).toEqual([]);
    const [noted] = await Array.fromAsync(store.read('customers-forgotten'));
    expect(noted).toMatchObject({ data: { paymentToken: 'pay_1' }, metadata: { actor: { name: 'ada' } } });
    for (const token of ['pay_9', 'po_1', '..%2Fx'])
      expect((await ask(`payments/${token}/forget`, {})).statusCode).toBe(404);
  });
});
