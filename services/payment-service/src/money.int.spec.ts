/** The money accounts through the API: held, available, refunded, paid out, disputed and owed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refusalOf, startHarness, type Harness } from './testing/harness.ts';
import { bankAccount, dayMs, tea } from './testing/samples.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.remove());

const refund = (body: object) => harness.call('POST', '/api/v1/refunds', body);
const payOut = (amount: number) =>
  harness.call('POST', '/api/v1/payouts', {
    amount,
    currency: 'EUR',
    orderNumber: 'P-1',
    destination: { bankAccount },
  });
const dispute = (body: object) => harness.call('POST', '/sandbox/disputes', body);
const disputeId = async (body: object) => ((await dispute(body)).body['dispute'] as { id: string }).id;
const resolve = (id: string, status: string) =>
  harness.call('POST', `/sandbox/disputes/${id}/resolve`, { status });
const revise = (token: string, body: object) =>
  harness.call('POST', `/sandbox/payments/${token}/revise`, body);
const succeeded = ({ statusCode }: { statusCode: number }) => statusCode === 200;

describe('the balance', () => {
  it('shows held money until it settles, and available money afterwards, including after a restart', async () => {
    await harness.createApproved();
    await harness.create();
    await harness.advanceClock(dayMs - 60_000);
    expect(await harness.balance()).toEqual({ available: 0, hold: tea.amount });
    await harness.advanceClock(60_000);
    await harness.restart();
    expect(await harness.balance()).toEqual({ available: tea.amount, hold: 0 });
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const { body } = await harness.call('GET', '/api/v1/balance?currency=EUR', undefined, stranger);
    expect(body['wallet']).toEqual({ currency: 'EUR', available: 0, hold: 0 });
  });
});

it('an approval beyond the largest exact sum is declined', async () => {
  await harness.createApproved({ amount: Number.MAX_SAFE_INTEGER });
  expect(await harness.retrieve(await harness.createApproved())).toMatchObject({
    status: 'declined',
    declineReason: 'limit_exceeded',
  });
});

describe('a refund', () => {
  it('is refused when the balance of its currency is short', async () => {
    const token = await harness.createApproved();
    await harness.advanceClock(dayMs);
    await payOut(tea.amount - 100);
    await harness.createApproved({ currency: 'USD' });
    expect(refusalOf(await refund({ token }))).toEqual([409, 'no_money_available_on_refund', 'token']);
    expect((await harness.retrieve(token)).refundedAmount).toBe(0);
    await harness.createApproved();
    expect(succeeded(await refund({ token, amount: 101 }))).toBe(true);
    expect(await harness.balance()).toEqual({ available: 0, hold: tea.amount - 1 });
  });
});

describe('a payout', () => {
  it('never exceeds the available money, however many run concurrently', async () => {
    await harness.createApproved();
    await harness.advanceClock(dayMs);
    await harness.createApproved(); // Held money is not paid out.
    const answers = await Promise.all(Array.from({ length: 8 }, () => payOut(500)));
    expect(answers.filter(succeeded)).toHaveLength(2);
    expect(answers.map(refusalOf)).toContainEqual([409, 'balance_less_than_amount', 'amount']);
    expect(await harness.balance()).toEqual({ available: tea.amount - 1_000, hold: tea.amount });
  });
});

describe('a dispute', () => {
  it('takes no money before it is lost, and blocks refunds of its amount unless it is won', async () => {
    const token = await harness.createApproved();
    const id = await disputeId({ token, amount: 400 });
    expect((await harness.balance()).hold).toBe(tea.amount);
    expect(refusalOf(await refund({ token, amount: 851 }))).toEqual([409, 'refund_exceeds_amount', 'amount']);
    await resolve(id, 'declined');
    const lost = await disputeId({ token, amount: 400 });
    await resolve(lost, 'approved');
    expect((await harness.balance()).hold).toBe(tea.amount - 400);
    expect(refusalOf(await resolve(lost, 'declined'))).toEqual([409, 'payment_in_final_state', 'id']);
  });

  it('is refused when nothing is left to dispute, and to another merchant', async () => {
    expect(refusalOf(await dispute({ token: await harness.create() }))).toEqual([
      409,
      'payment_in_final_state',
      'token',
    ]);
    const token = await harness.createApproved();
    expect(refusalOf(await dispute({ token, amount: 1_251 }))).toEqual([400, 'incorrect_amount', 'amount']);
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const path = `/sandbox/disputes/${await disputeId({ token })}/resolve`;
    const answer = await harness.call('POST', path, { status: 'approved' }, stranger);
    expect(refusalOf(answer)).toEqual([404, 'payment_not_found', 'id']);
  });
});

describe("an operator's revision", () => {
  it('of a payment that was paid out leaves a debt, which the next settlement pays off', async () => {
    const token = await harness.createApproved();
    await harness.advanceClock(dayMs);
    await payOut(1_000);
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
});
