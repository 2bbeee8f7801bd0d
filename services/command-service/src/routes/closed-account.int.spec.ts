/** Routes of teams for an account that operators have drained or paused. */
import {
  createFakeProvider,
  accountNamed,
  caller,
  payoutFor,
  teaFor,
  useHarness,
} from '@tollgate/core/testing';
import { describe, expect, it } from 'vitest';
import { startApp } from '../testing/app.ts';

const other = { provider: createFakeProvider() };
const harness = useHarness(() => {
  other.provider = createFakeProvider();
  return { moreAccounts: [accountNamed('other', other.provider.provider, { priority: 1 })] };
});

const close = (name: string, state: 'draining' | 'paused') =>
  harness().inside.accounts.setState('sandbox', name, state);
const receivedOf = (operation: string) =>
  harness().provider.received.filter((call) => call.operation === operation).length;
const ids = { 'idempotency-key': 'k1' };
const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-9' };
const codeIn = (answer: { statusCode: number; json(): unknown }) => [
  answer.statusCode,
  (answer.json() as { errors?: { code: string }[] }).errors?.[0]?.code,
];

describe('a drained account', () => {
  it('continues with captures, voids and refunds of its payments', async () => {
    const [captured, voided] = [await harness().authorized('order-1'), await harness().authorized('order-2')];
    const refunded = await harness().approved('order-3');
    close('main', 'draining');
    expect((await harness().end('capture', captured)).kind).toBe('answered');
    expect((await harness().end('void', voided)).kind).toBe('answered');
    expect((await harness().refund(refunded, 'refund-1')).kind).toBe('answered');
    expect(receivedOf('refund')).toBe(1);
  });

  it('gets no second attempt of a payment that another account could not send', async () => {
    close('other', 'draining');
    harness().provider.faults.push({ kind: 'not-sent' });
    const made = await harness().passTime(harness().create(teaFor('order-1')));
    expect(made).toMatchObject({ aggregate: { payment: { attempt: { number: 2, account: 'main' } } } });
  });

  it('refuses new payments if there is no other account, and nothing is recorded', async () => {
    close('main', 'draining');
    close('other', 'draining');
    const app = startApp(harness());
    expect(codeIn(await app.post('payments', body, ids))).toEqual([503, 'account_draining']);
    expect(harness().provider.requests).toEqual([]);
    harness().inside.accounts.setState('sandbox', 'main', 'active');
    expect((await app.post('payments', body, ids)).statusCode).toBe(200);
  });

  it('answers a repeat of an accepted payment', async () => {
    const made = await harness().create(teaFor('order-1'));
    close('main', 'draining');
    close('other', 'paused');
    expect(await harness().create(teaFor('order-1'))).toEqual({ ...made, replayed: true });
  });
});

describe('a paused account', () => {
  it('is not called for a capture, a void or a refund, and answers inquiries', async () => {
    const [authorized, approved] = [
      await harness().authorized('order-1'),
      await harness().approved('order-2'),
    ];
    close('main', 'paused');
    const app = startApp(harness());
    const paused = [503, 'account_paused'];
    expect(codeIn(await app.post('payments/confirm', { token: authorized }))).toEqual(paused);
    expect(codeIn(await app.post('payments/decline', { token: authorized }))).toEqual(paused);
    expect(codeIn(await app.post('refunds', { token: approved }, ids))).toEqual(paused);
    expect(await harness().inquire(approved)).toBe('inquired');
    expect([receivedOf('refund'), await harness().history(authorized)]).toEqual([
      0,
      expect.not.arrayContaining(['CaptureSubmitted', 'VoidSubmitted']),
    ]);
  });

  it('pays out nothing, even to destinations that only it can pay', async () => {
    close('main', 'paused');
    close('other', 'paused');
    const result = await harness().payOut({ ...payoutFor('order-1'), caller });
    expect(result).toEqual({ kind: 'unavailable', closed: 'paused', retryAfterSeconds: 30 });
  });
});
