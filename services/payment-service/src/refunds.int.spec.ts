import { refundAnswerSchema } from '@tollgate/payment-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { refusalOf, startHarness, type Harness } from './testing/harness.ts';
import { approvedCard, bankAccount, dayMs, declinedCard, tea } from './testing/samples.ts';

let harness: Harness;
let receiver: CallbackReceiver;
beforeEach(async () => {
  harness = await startHarness();
  receiver = await startCallbackReceiver();
});
afterEach(async () => {
  await harness.remove();
  await receiver.close();
});

const refund = (body: unknown) => harness.call('POST', '/api/v1/refunds', body);
const payOutAll = (amount: number) =>
  harness.call('POST', '/api/v1/payouts', {
    ...{ amount, currency: 'EUR', orderNumber: 'all' },
    destination: { bankAccount },
  });

describe('POST /api/v1/refunds', () => {
  it('refunds all without an amount, and shows the payment and the refund', async () => {
    const token = await harness.createApproved({ orderNumber: 'R-1', callbackUrl: receiver.url });
    await receiver.waitFor(2);
    const answer = await refund({ token });
    expect(answer.statusCode).toBe(200);
    const body = refundAnswerSchema.parse(answer.body);
    const terms = { amount: tea.amount, currency: 'EUR', status: 'approved' };
    expect(body.refund).toEqual({ token: body.token, ...terms });
    expect(body.token).not.toBe(token);
    expect(await harness.retrieve(token)).toMatchObject({ status: 'refunded', refundedAmount: tea.amount });
    expect(await harness.balance()).toEqual({ available: 0, hold: 0 });
    await receiver.waitFor(4);
    const callbacks = receiver.received.slice(2).sort((one, other) => (one.type! < other.type! ? -1 : 1));
    expect(callbacks).toEqual([
      { token, type: 'payment', ...terms, status: 'refunded', orderNumber: 'R-1' },
      { token: body.token, type: 'refund', ...terms, orderNumber: 'R-1' },
    ]);
    const { refunds, calls } = await harness.ledger('R-1');
    expect(refunds).toMatchObject([{ token: body.token, paymentToken: token, amount: tea.amount }]);
    expect(calls.find(({ operation }) => operation === 'refund')).toMatchObject({
      token: body.token,
      effect: 'created',
      answer: '200',
    });
  });

  it('refunds in parts, stays approved, and becomes refunded with the last', async () => {
    const token = await harness.createApproved({ callbackUrl: receiver.url });
    await receiver.waitFor(2);
    await refund({ token, amount: 250 });
    expect(await harness.retrieve(token)).toMatchObject({ status: 'approved', refundedAmount: 250 });
    await receiver.waitFor(3);
    expect(receiver.received[2]).toMatchObject({ type: 'refund', status: 'approved', amount: 250 });
    expect(await harness.balance()).toEqual({ available: 0, hold: tea.amount - 250 });
    const rest = await refund({ token });
    expect(rest.body['refund']).toMatchObject({ amount: tea.amount - 250 });
    expect((await harness.retrieve(token)).status).toBe('refunded');
    await receiver.waitFor(5);
    expect(receiver.received).toHaveLength(5);
  });

  it('never refunds more than was approved', async () => {
    const token = await harness.createApproved();
    await refund({ token, amount: 1_000 });
    const answer = await refund({ token, amount: 251 });
    expect(refusalOf(answer)).toEqual([409, 'refund_exceeds_amount', 'amount']);
    await refund({ token, amount: 250 });
    expect(refusalOf(await refund({ token }))).toEqual([409, 'refund_exceeds_amount', 'token']);
    expect((await harness.retrieve(token)).refundedAmount).toBe(tea.amount);
  });

  it('never refunds more than was approved, however many come together', async () => {
    const token = await harness.createApproved();
    await harness.createApproved(); // So that the balance would do.
    const answers = await Promise.all(Array.from({ length: 8 }, () => refund({ token, amount: 400 })));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(3);
    expect((await harness.retrieve(token)).refundedAmount).toBe(1_200);
    expect(await harness.balance()).toEqual({ available: 0, hold: 2 * tea.amount - 1_200 });
  });

  it('is refused when the balance is short, and draws on held and available money otherwise', async () => {
    const token = await harness.createApproved();
    await harness.advanceClock(dayMs);
    expect((await payOutAll(tea.amount - 100)).statusCode).toBe(200);
    const short = await refund({ token, amount: 101 });
    expect(refusalOf(short)).toEqual([409, 'no_money_available_on_refund', 'amount']);
    expect(refusalOf(await refund({ token }))).toEqual([409, 'no_money_available_on_refund', 'token']);
    expect((await harness.retrieve(token)).refundedAmount).toBe(0);
    await harness.createApproved();
    expect((await refund({ token, amount: 101 })).statusCode).toBe(200);
    expect(await harness.balance()).toEqual({ available: 0, hold: tea.amount - 1 });
  });

  it('takes no money of another currency', async () => {
    const token = await harness.createApproved();
    await harness.advanceClock(dayMs);
    await payOutAll(tea.amount);
    await harness.createApproved({ currency: 'USD' });
    expect(refusalOf(await refund({ token }))).toEqual([409, 'no_money_available_on_refund', 'token']);
  });

  it.each([
    [
      'declined',
      'payment_in_final_state',
      'token',
      async () => {
        const token = await harness.create();
        await harness.pay(token, { pan: declinedCard });
        return token;
      },
    ],
    [
      'expired',
      'payment_in_final_state',
      'token',
      async () => {
        const token = await harness.create();
        await harness.advanceClock(30 * 60_000);
        return token;
      },
    ],
    ['new', 'refund_exceeds_amount', 'token', () => harness.create()],
    [
      'held',
      'refund_exceeds_amount',
      'token',
      async () => {
        const token = await harness.create({ needConfirmation: true });
        await harness.pay(token, { pan: approvedCard });
        return token;
      },
    ],
  ] as const)('refuses a payment that is %s', async (_name, code, parameter, make) => {
    const token = await make();
    expect(refusalOf(await refund({ token }))).toEqual([409, code, parameter]);
    expect((await harness.ledger()).refunds).toEqual([]);
  });

  it('finds no unknown payment, and none of another merchant', async () => {
    expect(refusalOf(await refund({ token: 'x' }))).toEqual([404, 'payment_not_found', 'token']);
    const token = await harness.createApproved();
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const answer = await harness.call('POST', '/api/v1/refunds', { token }, stranger);
    expect(refusalOf(answer)).toEqual([404, 'payment_not_found', 'token']);
    expect((await harness.retrieve(token)).status).toBe('approved');
  });

  it.each([
    ['token', 'invalid_param', { amount: 1 }],
    ['amount', 'incorrect_amount', { token: 'x', amount: 0 }],
    ['amount', 'incorrect_amount', { token: 'x', amount: -1 }],
    ['amount', 'incorrect_amount', { token: 'x', amount: 1.5 }],
    ['amount', 'incorrect_amount', { token: 'x', amount: '1' }],
    ['amount', 'incorrect_amount', { token: 'x', amount: null }],
    ['currency', 'invalid_param', { token: 'x', currency: 'EUR' }],
    ['body', 'invalid_param', 'null'],
  ])('refuses a wrong %s (%s, %j) by name', async (parameter, code, body) => {
    expect(refusalOf(await refund(body))).toEqual([400, code, parameter]);
  });

  it('survives a lost reply and a restart', async () => {
    const token = await harness.createApproved();
    await harness.setFaults({ operation: 'refund', fault: 'lost_reply', times: 1 });
    await expect(refund({ token, amount: 250 })).rejects.toThrow();
    await harness.restart();
    expect((await harness.retrieve(token)).refundedAmount).toBe(250);
    expect(await harness.balance()).toEqual({ available: 0, hold: tea.amount - 250 });
  });
});

describe('GET /api/v1/balance', () => {
  const balance = (query: string) => harness.call('GET', `/api/v1/balance${query}`);

  it('shows held money until it settles, and available money from then on, over a restart too', async () => {
    await harness.createApproved();
    await harness.create();
    expect((await balance('?currency=EUR')).body).toEqual({
      success: true,
      wallet: { currency: 'EUR', available: 0, hold: tea.amount },
    });
    await harness.advanceClock(dayMs - 60_000);
    expect((await harness.balance()).available).toBe(0);
    await harness.advanceClock(60_000);
    await harness.restart();
    expect(await harness.balance()).toEqual({ available: tea.amount, hold: 0 });
    expect(await harness.balance('USD')).toEqual({ available: 0, hold: 0 });
  });

  it('is each merchant’s own', async () => {
    await harness.createApproved();
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const { body } = await harness.call('GET', '/api/v1/balance?currency=EUR', undefined, stranger);
    expect(body['wallet']).toEqual({ currency: 'EUR', available: 0, hold: 0 });
  });

  it.each([
    ['currency', 'incorrect_currency', ''],
    ['currency', 'incorrect_currency', '?currency=EURO'],
    ['currency', 'incorrect_currency', '?currency=eur'],
    ['currency', 'incorrect_currency', '?currency=EUR&currency=USD'],
    ['day', 'invalid_param', '?currency=EUR&day=1'],
  ])('refuses a wrong %s (%s, %j) by name', async (parameter, code, query) => {
    expect(refusalOf(await balance(query))).toEqual([400, code, parameter]);
  });

  it('can fail', async () => {
    await harness.setFaults({ operation: 'balance', fault: 'html_502', times: 1 });
    expect((await balance('?currency=EUR')).statusCode).toBe(502);
  });
});

describe('an operator’s revision', () => {
  const revise = (token: string, body: object) =>
    harness.call('POST', `/sandbox/payments/${token}/revise`, body);

  it('brings and takes the money', async () => {
    const token = await harness.create();
    await harness.pay(token, { pan: declinedCard });
    await revise(token, { status: 'approved', amount: 900 });
    expect(await harness.balance()).toEqual({ available: 0, hold: 900 });
    await revise(token, { status: 'declined' });
    expect(await harness.balance()).toEqual({ available: 0, hold: 0 });
  });

  it('of a payment that was paid out leaves a debt, which the next settlement pays off', async () => {
    const token = await harness.createApproved();
    await harness.advanceClock(dayMs);
    await payOutAll(1_000);
    await revise(token, { status: 'declined' });
    expect(await harness.balance()).toEqual({ available: 0, hold: 0 });
    await harness.createApproved();
    await harness.advanceClock(dayMs);
    expect(await harness.balance()).toEqual({ available: 250, hold: 0 });
  });

  it('is refused once money was refunded', async () => {
    const token = await harness.createApproved();
    await refund({ token, amount: 1 });
    expect(refusalOf(await revise(token, { status: 'declined' }))).toEqual([400, 'invalid_param', 'status']);
  });

  it('is refused beyond what can be counted', async () => {
    const token = await harness.create();
    await harness.createApproved();
    await harness.pay(token, { pan: declinedCard });
    const answer = await revise(token, { status: 'approved', amount: Number.MAX_SAFE_INTEGER });
    expect(refusalOf(answer)).toEqual([400, 'incorrect_amount', 'amount']);
  });
});

it('an approval beyond what can be counted is declined', async () => {
  const amount = Number.MAX_SAFE_INTEGER;
  const [first, second] = [await harness.createApproved({ amount }), await harness.createApproved()];
  expect(await harness.balance()).toEqual({ available: 0, hold: amount });
  expect((await harness.retrieve(first)).status).toBe('approved');
  expect(await harness.retrieve(second)).toMatchObject({
    status: 'declined',
    declineReason: 'limit_exceeded',
  });
});
