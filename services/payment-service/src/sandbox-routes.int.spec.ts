import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { errorsOf, startHarness, type Harness } from './testing/harness.ts';
import { tea } from './testing/samples.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.remove());
afterEach(() => harness.call('DELETE', '/sandbox/faults'));

const post = (orderNumber: string) => harness.call('POST', '/api/v1/payments', { ...tea, orderNumber });

describe('POST /sandbox/payments/{token}/pay', () => {
  it('finds no payment of another merchant', async () => {
    const token = await harness.create();
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    for (const [path, body] of [
      ['pay', { outcome: 'approved' }],
      ['revise', { status: 'approved' }],
      ['settle', {}],
    ] as const) {
      const answer = await harness.call('POST', `/sandbox/payments/${token}/${path}`, body, stranger);
      expect([answer.statusCode, errorsOf(answer)[0]?.code]).toEqual([404, 'payment_not_found']);
    }
  });
});

describe('POST /sandbox/merchants', () => {
  it('registers a merchant and returns a key, which only it has', async () => {
    const body = { name: 'tea shop' };
    const { key } = (await harness.call('POST', '/sandbox/merchants', body)).body as { key: string };
    expect((await harness.call('POST', '/api/v1/payments', tea, `Bearer ${key}`)).statusCode).toBe(200);
    const again = await harness.call('POST', '/sandbox/merchants', { name: 'tea shop' });
    expect(again.body['key']).not.toBe(key);
  });

  it('refuses a name that could not be shown', async () => {
    const { statusCode } = await harness.call('POST', '/sandbox/merchants', { name: '<b>' });
    expect(statusCode).toBe(400);
  });
});

describe('POST /sandbox/payments/{token}/settle', () => {
  const settle = (token: string) => harness.call('POST', `/sandbox/payments/${token}/settle`, {});

  it('makes the money of one payment available, once, and moves nothing else', async () => {
    const merchant = `Bearer ${await harness.addMerchant({ name: 'settled' })}`;
    const call = (path: string, body?: object) =>
      harness.call(body === undefined ? 'GET' : 'POST', path, body, merchant);
    const create = async (orderNumber: string) => {
      const { body } = await call('/api/v1/payments', { ...tea, orderNumber });
      return String(body['token']);
    };
    const [paid, other, open] = [await create('paid'), await create('other'), await create('open')];
    for (const token of [paid, other]) await call(`/sandbox/payments/${token}/pay`, { outcome: 'approved' });
    for (let times = 0; times < 2; times += 1)
      expect((await call(`/sandbox/payments/${paid}/settle`, {})).statusCode).toBe(200);
    expect((await call(`/api/v1/balance?currency=${tea.currency}`)).body).toMatchObject({
      wallet: { available: tea.amount, hold: tea.amount },
    });
    expect((await call(`/api/v1/payments/${open}`)).body).toMatchObject({ payment: { status: 'init' } });
  });

  it('refuses payments that are not approved', async () => {
    const answer = await settle(await harness.create());
    expect(errorsOf(answer)).toMatchObject([{ code: 'invalid_param', parameter: 'token' }]);
  });
});

describe('POST /sandbox/clock', () => {
  it('answers after all due work is done, whatever its amount', async () => {
    const tokens = await Promise.all(Array.from({ length: 1_100 }, () => harness.create()));
    await harness.advanceClock(30 * 60_000);
    const { payments } = await harness.ledger();
    const expired = new Set(payments.filter(({ status }) => status === 'expired').map(({ token }) => token));
    expect(tokens.filter((token) => !expired.has(token))).toEqual([]);
  });
});

describe('GET /sandbox/ledger', () => {
  it('shows payments with their histories, and calls with their effects, of one orderNumber', async () => {
    const token = await harness.create({ orderNumber: 'ledger-1' });
    await harness.retrieve(token);
    await harness.call('GET', '/api/v1/payments?orderNumber=ledger-1');
    await post('');
    await harness.pay(token, { outcome: 'approved' });
    const ledger = await harness.ledger('ledger-1');
    expect(ledger).toMatchObject({ success: true, paymentsCount: 1, refunds: [], payouts: [] });
    expect(ledger.payments[0]).toMatchObject({
      token,
      orderNumber: 'ledger-1',
      status: 'approved',
      amount: tea.amount,
      refundedAmount: 0,
      statuses: [{ status: 'init' }, { status: 'pending' }, { status: 'approved' }],
    });
    expect(ledger.calls).toMatchObject([
      { operation: 'create', token, orderNumber: 'ledger-1', effect: 'created', answer: '200' },
      { operation: 'get', token, orderNumber: 'ledger-1', effect: 'none', answer: '200' },
      { operation: 'list', orderNumber: 'ledger-1', effect: 'none', answer: '200' },
    ]);
  });

  it('shows a merchant nothing of another merchant', async () => {
    await harness.create({ orderNumber: 'ledger-3' });
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger-to-the-ledger' })}`;
    const { body } = await harness.call('GET', '/sandbox/ledger', undefined, stranger);
    expect(body).toMatchObject({ payments: [], callbacks: [], calls: [], paymentsCount: 0 });
  });
});

describe('faults of answers', () => {
  /** The ledger's record of the only call with this orderNumber. */
  const truth = async (orderNumber: string) => {
    const { calls, payments } = await harness.ledger(orderNumber);
    return {
      payments: payments.length,
      effect: calls[0]?.effect,
      answer: calls[0]?.answer,
      calls: calls.length,
    };
  };

  const struck = { payments: 1, effect: 'created', calls: 1 };
  const missed = { payments: 0, effect: 'none', calls: 1 };
  it.each([
    ['error_before', 500, /core_api_error/, { ...missed, answer: '500 core_api_error' }],
    ['error_after', 500, /core_api_error/, { ...struck, answer: 'error_after' }],
    ['html_502', 502, /^<html>/, { ...struck, answer: 'html_502' }],
    ['truncated_json', 200, /^\{"success":true,.*[^}]$/, { ...struck, answer: 'truncated_json' }],
    ['rate_limited', 429, /rate_limited/, { ...missed, answer: '429 rate_limited' }],
    ['slow_reply', 200, /"success":true/, { ...struck, answer: '200' }],
  ])(
    '%s: the answer is %i, and the ledger shows whether it took effect',
    async (fault, statusCode, text, told) => {
      await harness.setFaults({ operation: 'create', fault, delayMs: 50, times: 1 });
      const answer = await post(fault);
      expect(answer.statusCode).toBe(statusCode);
      expect(answer.text).toMatch(text);
      expect(await truth(fault)).toEqual(told);
      expect((await post('next')).statusCode).toBe(200);
    },
  );

  it('lost_reply: the connection closes without an answer, and the payment exists', async () => {
    await harness.setFaults({ operation: 'create', fault: 'lost_reply', times: 1 });
    await expect(post('f-3')).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) as string,
    });
    expect(await truth('f-3')).toEqual({ ...struck, answer: 'lost_reply' });
  });

  it('are gone after DELETE, and do not affect other merchants', async () => {
    await harness.setFaults({ operation: 'create', fault: 'error_before' });
    const stranger = `Bearer ${await harness.addMerchant({ name: 'without-faults' })}`;
    expect((await harness.call('POST', '/api/v1/payments', tea, stranger)).statusCode).toBe(200);
    expect((await post('f-9')).statusCode).toBe(500);
    expect((await harness.call('DELETE', '/sandbox/faults')).statusCode).toBe(200);
    expect((await post('f-9')).statusCode).toBe(200);
  });

  it('are refused if they are invalid', async () => {
    const answer = await harness.setFaults({ operation: 'create', fault: 'drop' });
    expect(answer.statusCode).toBe(400);
    expect(errorsOf(answer)[0]).toMatchObject({ code: 'invalid_param', parameter: '0.fault' });
    expect((await post('f-10')).statusCode).toBe(200);
  });
});
