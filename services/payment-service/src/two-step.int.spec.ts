import { retrievePaymentAnswerSchema } from '@tollgate/payment-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { refusalOf, startHarness, type Harness } from './testing/harness.ts';
import { approvedCard, dayMs, tea } from './testing/samples.ts';

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

const createHeld = async (fields: object = {}): Promise<string> => {
  const token = await harness.create({ needConfirmation: true, callbackUrl: receiver.url, ...fields });
  await harness.pay(token, { pan: approvedCard });
  return token;
};
const end = (how: string, body: unknown) => harness.call('POST', `/api/v1/payments/${how}`, body);

describe('a two-step payment', () => {
  it('is approved by its confirmation, which takes all that is authorized', async () => {
    const token = await createHeld({ orderNumber: 'two-1' });
    expect(await harness.balance()).toEqual({ available: 0, hold: 0 });
    const answer = await end('confirm', { token });
    expect(answer.statusCode).toBe(200);
    const { payment } = retrievePaymentAnswerSchema.parse(answer.body);
    expect(payment).toMatchObject({ token, status: 'approved', amount: tea.amount, heldAmount: 0 });
    expect(await harness.retrieve(token)).toEqual(payment);
    expect(await harness.balance()).toEqual({ available: 0, hold: tea.amount });
    await receiver.waitFor(3);
    expect(receiver.statuses()).toEqual(['pending', 'pending', 'approved']);
    const { calls } = await harness.ledger('two-1');
    expect(calls.at(1)).toMatchObject({ operation: 'confirm', token, effect: 'confirmed', answer: '200' });
  });

  it('is declined by the merchant, and no money has moved', async () => {
    const token = await createHeld();
    const answer = await end('decline', { token });
    expect(answer.body['payment']).toMatchObject({
      status: 'declined',
      heldAmount: 0,
      declineReason: 'declined_by_merchant',
    });
    expect(await harness.balance()).toEqual({ available: 0, hold: 0 });
    await receiver.waitFor(3);
    expect(receiver.received.at(-1)).toMatchObject({ type: 'payment', status: 'declined' });
  });

  it('gives its recurring token out at the confirmation, not before', async () => {
    const token = await createHeld({ recurring: true });
    expect((await harness.retrieve(token)).recurringToken).toBeUndefined();
    await end('confirm', { token });
    expect((await harness.retrieve(token)).recurringToken).toMatch(/^[0-9a-f]{32}$/);
  });

  it('lapses after seven days, with a callback', async () => {
    const token = await createHeld();
    await harness.advanceClock(7 * dayMs - 60_000);
    expect((await harness.retrieve(token)).status).toBe('pending');
    await harness.advanceClock(60_000);
    expect(await harness.retrieve(token)).toMatchObject({ status: 'expired', heldAmount: 0 });
    expect(refusalOf(await end('confirm', { token }))).toEqual([409, 'payment_in_final_state', 'token']);
    await receiver.waitFor(3);
    expect(receiver.statuses()).toEqual(['pending', 'pending', 'expired']);
  });

  it('ends once, however many confirm and decline it together', async () => {
    const token = await createHeld();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => end(index % 2 === 0 ? 'confirm' : 'decline', { token })),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    const { status } = await harness.retrieve(token);
    const { hold } = await harness.balance();
    expect(hold).toBe(status === 'approved' ? tea.amount : 0);
  });
});

describe.each(['confirm', 'decline'])('POST /api/v1/payments/%s', (how) => {
  it('refuses a payment that is not authorized', async () => {
    const opened = await harness.create({ needConfirmation: true });
    expect(refusalOf(await end(how, { token: opened }))).toEqual([409, 'payment_not_confirmable', 'token']);
    await harness.browse(`/checkout/${opened}`);
    expect(refusalOf(await end(how, { token: opened }))).toEqual([409, 'payment_not_confirmable', 'token']);
  });

  it('refuses a final payment', async () => {
    const token = await harness.createApproved();
    expect(refusalOf(await end(how, { token }))).toEqual([409, 'payment_in_final_state', 'token']);
    expect((await harness.retrieve(token)).status).toBe('approved');
  });

  it('finds no unknown payment, and none of another merchant', async () => {
    expect(refusalOf(await end(how, { token: 'x' }))).toEqual([404, 'payment_not_found', 'token']);
    const token = await createHeld();
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const answer = await harness.call('POST', `/api/v1/payments/${how}`, { token }, stranger);
    expect(refusalOf(answer)).toEqual([404, 'payment_not_found', 'token']);
    expect((await harness.retrieve(token)).heldAmount).toBe(tea.amount);
  });

  it.each([
    ['token', {}],
    ['token', { token: 17 }],
    ['token', { token: '' }],
    ['part', { token: 'x', part: 100 }],
    ['body', []],
  ])('refuses a wrong %s (%j) by name', async (parameter, body) => {
    expect(refusalOf(await end(how, body))).toEqual([400, 'invalid_param', parameter]);
  });

  it('can fail after its effect', async () => {
    const token = await createHeld();
    await harness.setFaults({ operation: how, fault: 'error_after', times: 1 });
    expect((await end(how, { token })).statusCode).toBe(500);
    expect((await harness.retrieve(token)).status).toBe(how === 'confirm' ? 'approved' : 'declined');
  });

  it('can fail without an effect', async () => {
    const token = await createHeld();
    await harness.setFaults({ operation: how, fault: 'error_before', times: 1 });
    expect((await end(how, { token })).statusCode).toBe(500);
    expect((await harness.retrieve(token)).status).toBe('pending');
  });
});
