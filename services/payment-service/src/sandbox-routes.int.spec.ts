import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@tollgate/service-kit';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { errorsOf, startHarness, type Harness } from './testing/harness.ts';
import {
  approvedCard,
  authenticatedCard,
  authenticatedDeclinedCard,
  declinedCard,
  tea,
} from './testing/samples.ts';

let harness: Harness;
let receiver: CallbackReceiver;
beforeAll(async () => {
  harness = await startHarness();
  receiver = await startCallbackReceiver();
});
afterAll(async () => {
  await harness.remove();
  await receiver.close();
});
afterEach(() => harness.call('DELETE', '/sandbox/faults'));

const post = (orderNumber: string) => harness.call('POST', '/api/v1/payments', { ...tea, orderNumber });

describe('POST /sandbox/payments/{token}/pay', () => {
  it.each([
    [{ pan: approvedCard }, 'approved', '439296******1251'],
    [{ pan: declinedCard }, 'declined', '473019******8516'],
    [{ pan: authenticatedCard }, 'approved', '461761******3933'],
    [{ pan: authenticatedDeclinedCard }, 'declined', '462623******7898'],
    [{ pan: '4111111111111111' }, 'declined', '411111******1111'],
    [{ outcome: 'approved' }, 'approved', undefined],
    [{ outcome: 'declined' }, 'declined', undefined],
  ])('does with %j what the customer would do: %s', async (how, status, sanitizedMask) => {
    const token = await harness.create();
    const answer = await harness.pay(token, how);
    expect(answer.statusCode).toBe(200);
    const payment = await harness.retrieve(token);
    expect(answer.body['payment']).toEqual(payment);
    expect([payment.status, payment.sanitizedMask]).toEqual([status, sanitizedMask]);
  });

  it('holds the money of a payment that needs confirmation', async () => {
    const token = await harness.create({ needConfirmation: true });
    await harness.pay(token, { pan: approvedCard });
    expect(await harness.retrieve(token)).toMatchObject({ status: 'pending', heldAmount: tea.amount });
    const again = await harness.pay(token, { pan: approvedCard });
    expect(errorsOf(again)).toMatchObject([{ code: 'payment_in_final_state', kind: 'processing_error' }]);
  });

  it('refuses a final payment', async () => {
    const token = await harness.create();
    await harness.pay(token, { outcome: 'approved' });
    const answer = await harness.pay(token, { outcome: 'declined' });
    expect(answer.statusCode).toBe(409);
    expect(errorsOf(answer)).toMatchObject([{ code: 'payment_in_final_state', parameter: 'token' }]);
    expect((await harness.retrieve(token)).status).toBe('approved');
  });

  it.each([
    ['pan', {}],
    ['outcome', { pan: approvedCard, outcome: 'approved' }],
    ['pan', { pan: '1' }],
    ['outcome', { outcome: 'refunded' }],
  ])('refuses a wrong %s (%j)', async (parameter, body) => {
    const answer = await harness.pay(await harness.create(), body);
    expect(errorsOf(answer)).toMatchObject([{ code: 'invalid_param', parameter }]);
    expect(answer.text).not.toContain(approvedCard);
  });

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

describe('POST /sandbox/payments/{token}/revise', () => {
  const revise = (token: string, body: object) =>
    harness.call('POST', `/sandbox/payments/${token}/revise`, body);

  it('changes a final status and its amount', async () => {
    const token = await harness.create();
    await harness.pay(token, { outcome: 'declined' });
    expect((await revise(token, { status: 'approved', amount: 900 })).statusCode).toBe(200);
    expect(await harness.retrieve(token)).toMatchObject({ status: 'approved', amount: 900 });
    await revise(token, { status: 'declined' });
    expect(await harness.retrieve(token)).toMatchObject({
      status: 'declined',
      declineReason: 'revised_by_operator',
    });
  });

  it.each([
    ['status', { status: 'approved' }, 'invalid_param'],
    ['status', { status: 'expired' }, 'invalid_param'],
    ['amount', { status: 'approved', amount: 0 }, 'incorrect_amount'],
  ])('refuses a wrong %s (%j)', async (parameter, body, code) => {
    const answer = await revise(await harness.create(), body);
    expect(errorsOf(answer)).toMatchObject([{ code, parameter }]);
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

  it('refuses what is not approved', async () => {
    const answer = await settle(await harness.create());
    expect(errorsOf(answer)).toMatchObject([{ code: 'invalid_param', parameter: 'token' }]);
  });
});

describe('POST /sandbox/clock', () => {
  it('has done what fell due by it when it answers, however much that is', async () => {
    const tokens = await Promise.all(Array.from({ length: 1_100 }, () => harness.create()));
    await harness.advanceClock(30 * 60_000);
    const { payments } = await harness.ledger();
    const expired = new Set(payments.filter(({ status }) => status === 'expired').map(({ token }) => token));
    expect(tokens.filter((token) => !expired.has(token))).toEqual([]);
  });

  it('makes an abandoned payment expire after thirty minutes', async () => {
    const token = await harness.create();
    await harness.advanceClock(29 * 60_000);
    expect((await harness.retrieve(token)).status).toBe('init');
    const answer = await harness.advanceClock(60_000);
    expect((await harness.retrieve(token)).status).toBe('expired');
    expect(Date.parse(String(answer.body['now'])) - systemClock.now()).toBeGreaterThan(29 * 60_000);
  });

  it.each([{}, { advanceMs: -1 }, { advanceMs: 1.5 }, { advanceMs: 1e12 }])('refuses %j', async (body) => {
    const answer = await harness.call('POST', '/sandbox/clock', body);
    expect(errorsOf(answer)).toMatchObject([{ code: 'invalid_param', parameter: 'advanceMs' }]);
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

  it('shows the oldest first', async () => {
    const tokens = [
      await harness.create({ orderNumber: 'order' }),
      await harness.create({ orderNumber: 'order' }),
    ];
    for (const token of tokens) await harness.browse(`/checkout/${token}`);
    const { payments, callbacks, calls } = await harness.ledger('order');
    for (const entries of [payments, callbacks, calls])
      expect(entries.map(({ token }) => token)).toEqual(tokens);
  });

  it('shows a refused call by its error', async () => {
    await harness.call('POST', '/api/v1/payments', { ...tea, orderNumber: 'ledger-2', amount: 0 });
    const { calls, payments } = await harness.ledger('ledger-2');
    expect(payments).toEqual([]);
    expect(calls).toMatchObject([{ operation: 'create', effect: 'none', answer: '400 incorrect_amount' }]);
  });

  it('shows a merchant nothing of another', async () => {
    await harness.create({ orderNumber: 'ledger-3' });
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger-to-the-ledger' })}`;
    const { body } = await harness.call('GET', '/sandbox/ledger', undefined, stranger);
    expect(body).toMatchObject({ payments: [], callbacks: [], calls: [], paymentsCount: 0 });
  });
});

describe('faults of answers', () => {
  /** What the ledger says of the only call with this orderNumber. */
  const truth = async (orderNumber: string) => {
    const { calls, payments } = await harness.ledger(orderNumber);
    return {
      payments: payments.length,
      effect: calls[0]?.effect,
      answer: calls[0]?.answer,
      calls: calls.length,
    };
  };

  it('error_before: an api_error, and nothing happened', async () => {
    await harness.setFaults({ operation: 'create', fault: 'error_before', times: 1 });
    const answer = await post('f-1');
    expect(answer.statusCode).toBe(500);
    expect(errorsOf(answer)).toMatchObject([{ code: 'core_api_error', kind: 'api_error' }]);
    expect(await truth('f-1')).toEqual({
      payments: 0,
      effect: 'none',
      answer: '500 core_api_error',
      calls: 1,
    });
    expect((await post('f-1')).statusCode).toBe(200);
  });

  it('error_after: an api_error, and the payment is there', async () => {
    await harness.setFaults({ operation: 'create', fault: 'error_after', times: 1 });
    const answer = await post('f-2');
    expect([answer.statusCode, errorsOf(answer)[0]?.kind]).toEqual([500, 'api_error']);
    expect(await truth('f-2')).toEqual({ payments: 1, effect: 'created', answer: 'error_after', calls: 1 });
  });

  it('lost_reply: the connection is gone without an answer, and the payment is there', async () => {
    await harness.setFaults({ operation: 'create', fault: 'lost_reply', times: 1 });
    await expect(post('f-3')).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) as string,
    });
    expect(await truth('f-3')).toEqual({ payments: 1, effect: 'created', answer: 'lost_reply', calls: 1 });
  });

  it('slow_reply: the answer comes after the delay, and meanwhile the payment is there', async () => {
    await harness.setFaults({ operation: 'create', fault: 'slow_reply', delayMs: 300, times: 1 });
    const startedAt = systemClock.monotonic();
    expect((await post('f-4')).statusCode).toBe(200);
    expect(systemClock.monotonic() - startedAt).toBeGreaterThanOrEqual(299);
    expect(await truth('f-4')).toEqual({ payments: 1, effect: 'created', answer: '200', calls: 1 });
  });

  it('html_502: a page of a proxy, and the payment is there', async () => {
    await harness.setFaults({ operation: 'create', fault: 'html_502', times: 1 });
    const answer = await post('f-5');
    expect(answer.statusCode).toBe(502);
    expect(answer.text).toMatch(/^<html>/);
    expect(await truth('f-5')).toMatchObject({ payments: 1, effect: 'created' });
  });

  it('truncated_json: half of an answer, and the payment is there', async () => {
    await harness.setFaults({ operation: 'create', fault: 'truncated_json', times: 1 });
    const answer = await post('f-6');
    expect(answer.statusCode).toBe(200);
    expect(answer.text).toMatch(/^\{"success":true,/);
    expect(() => JSON.parse(answer.text) as unknown).toThrow();
    expect(await truth('f-6')).toMatchObject({ payments: 1, effect: 'created' });
  });

  it('rate_limited: 429, and nothing happened', async () => {
    await harness.setFaults({ operation: 'create', fault: 'rate_limited', times: 1 });
    const answer = await post('f-7');
    expect([answer.statusCode, errorsOf(answer)[0]?.code]).toEqual([429, 'rate_limited']);
    expect(await truth('f-7')).toMatchObject({ payments: 0, effect: 'none' });
  });

  it('strike readings too', async () => {
    const token = await harness.create({ orderNumber: 'f-8' });
    await harness.setFaults(
      { operation: 'get', fault: 'html_502', times: 1 },
      { operation: 'list', fault: 'error_before', times: 1 },
    );
    expect((await harness.call('GET', `/api/v1/payments/${token}`)).statusCode).toBe(502);
    expect((await harness.call('GET', '/api/v1/payments')).statusCode).toBe(500);
    expect((await harness.retrieve(token)).token).toBe(token);
  });

  it('are gone after DELETE, and strike no other merchant', async () => {
    await harness.setFaults({ operation: 'create', fault: 'error_before' });
    const stranger = `Bearer ${await harness.addMerchant({ name: 'without-faults' })}`;
    expect((await harness.call('POST', '/api/v1/payments', tea, stranger)).statusCode).toBe(200);
    expect((await post('f-9')).statusCode).toBe(500);
    expect((await harness.call('DELETE', '/sandbox/faults')).statusCode).toBe(200);
    expect((await post('f-9')).statusCode).toBe(200);
  });

  it('are refused where they are not understood', async () => {
    const answer = await harness.setFaults({ operation: 'create', fault: 'drop' });
    expect(answer.statusCode).toBe(400);
    expect(errorsOf(answer)[0]).toMatchObject({ code: 'invalid_param', parameter: '0.fault' });
    expect((await post('f-10')).statusCode).toBe(200);
  });

  it('are refused when they are too many', async () => {
    const many = Array.from({ length: 100 }, () => ({
      operation: 'get',
      fault: 'lost_reply',
      probability: 0.000001,
    }));
    for (let times = 0; times < 10; times += 1)
      expect((await harness.setFaults(...many)).statusCode).toBe(200);
    expect(errorsOf(await harness.setFaults(...many))).toMatchObject([
      { code: 'invalid_param', parameter: 'body' },
    ]);
  });
});

describe('the callback fault before_reply', () => {
  it('has a callback arrive, and be answered, before the creation is', async () => {
    await harness.setFaults({ operation: 'callback', fault: 'before_reply', times: 1 });
    const events: string[] = [];
    receiver.react(async (body) => {
      // Takes its time, and sees that the payment is there already.
      const { payments } = await harness.ledger('early');
      events.push(`callback ${body.status} of ${payments.length} payment`);
      return 200;
    });
    await harness.create({ orderNumber: 'early', callbackUrl: receiver.url });
    events.push('created');
    expect(events).toEqual(['callback init of 1 payment', 'created']);
  });
});
