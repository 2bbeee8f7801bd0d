import { listPaymentsAnswerSchema, payoutAnswerSchema } from '@tollgate/payment-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { refusalOf, startHarness, type Harness } from './testing/harness.ts';
import {
  approvedCard,
  bankAccount,
  dayMs,
  payoutCard,
  payoutDeclinedCard,
  tea,
  unknownCard,
} from './testing/samples.ts';

let harness: Harness;
let receiver: CallbackReceiver;
beforeEach(async () => {
  harness = await startHarness();
  receiver = await startCallbackReceiver();
  await harness.createApproved({ recurring: true });
  await harness.advanceClock(dayMs);
});
afterEach(async () => {
  await harness.remove();
  await receiver.close();
});

const card = (pan: string) => ({ card: { pan, expires: '12/2099' } });
const terms = { amount: 300, currency: 'EUR', orderNumber: 'P-1', destination: { bankAccount } };
const payOut = (fields: object = {}) => harness.call('POST', '/api/v1/payouts', { ...terms, ...fields });
const available = async () => (await harness.balance()).available;

describe('POST /api/v1/payouts', () => {
  it.each([
    ['a bank account', { bankAccount }, 'approved'],
    ['the approved test card', card(payoutCard), 'approved'],
    ['the declined test card', card(payoutDeclinedCard), 'declined'],
    ['any other card', card(unknownCard), 'declined'],
    ['a card that is good for payments', card(approvedCard), 'declined'],
  ])('to %s', async (_name, destination, status) => {
    const answer = await payOut({ destination });
    expect(answer.statusCode).toBe(200);
    const { payout } = payoutAnswerSchema.parse(answer.body);
    const { destination: _to, ...echoed } = terms;
    expect(payout).toEqual({ token: payout.token, ...echoed, status });
    expect(await available()).toBe(status === 'approved' ? tea.amount - 300 : tea.amount);
    expect((await harness.ledger('P-1')).payouts).toMatchObject([{ token: payout.token, status }]);
  });

  it('to the card of an earlier payment', async () => {
    const [first] = (await harness.ledger()).payments;
    const { recurringToken } = await harness.retrieve(String(first?.token));
    const answer = await payOut({ destination: { recurringToken } });
    expect(answer.body['payout']).toMatchObject({ status: 'approved' });
    const unknown = await payOut({ destination: { recurringToken: 'unknown' } });
    expect(refusalOf(unknown)).toEqual([409, 'recurring_token_not_found', 'destination.recurringToken']);
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const body = { ...terms, destination: { recurringToken } };
    expect(await harness.call('POST', '/api/v1/payouts', body, stranger)).toEqual(unknown);
  });

  it('is read by its token, and in lists by operationType', async () => {
    const answer = await payOut({ destination: card(payoutDeclinedCard) });
    const { token } = payoutAnswerSchema.parse(answer.body).payout;
    const shown = await harness.retrieve(token);
    expect(shown).toMatchObject({
      ...{ token, operationType: 'payout', status: 'declined', amount: 300, orderNumber: 'P-1' },
      ...{ sanitizedMask: '496835******0422', declineReason: 'card_declined' },
    });
    const list = async (query: string) =>
      listPaymentsAnswerSchema.parse((await harness.call('GET', `/api/v1/payments?${query}`)).body);
    expect((await list('operationType=payouts')).payments).toEqual([shown]);
    expect((await list('operationType=payouts')).totalCount).toBe(1);
    expect((await list('operationType=pays')).totalCount).toBe(1);
    const all = await list('operationType=all');
    expect(all.totalCount).toBe(2);
    expect(all.payments[0]).toEqual(shown);
    expect((await list('operationType=all&perPage=1&page=2')).payments).toEqual(all.payments.slice(1));
    expect((await list('operationType=all&orderNumber=P-1')).payments).toEqual([shown]);
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const others = await harness.call('GET', `/api/v1/payments/${token}`, undefined, stranger);
    expect(refusalOf(others)).toEqual([404, 'payment_not_found', 'token']);
  });

  it('is reported by callbacks of its own type', async () => {
    const answer = await payOut({ callbackUrl: receiver.url });
    expect(await receiver.waitFor(1)).toEqual([
      {
        ...{ token: (answer.body['payout'] as { token: string }).token, type: 'payout', status: 'approved' },
        ...{ orderNumber: 'P-1', amount: 300, currency: 'EUR' },
      },
    ]);
  });

  it('never pays out more than is available, however many come together', async () => {
    await harness.createApproved(); // Held money is not paid out.
    const answers = await Promise.all(Array.from({ length: 8 }, () => payOut({ amount: 500 })));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(2);
    expect(await harness.balance()).toEqual({ available: tea.amount - 1_000, hold: tea.amount });
    const refused = answers.find(({ statusCode }) => statusCode !== 200);
    expect(refused && refusalOf(refused)).toEqual([409, 'balance_less_than_amount', 'amount']);
    const declined = await payOut({ amount: 500, destination: card(payoutDeclinedCard) });
    expect(refusalOf(declined)).toEqual([409, 'balance_less_than_amount', 'amount']);
  });

  it.each([
    ['amount', 'incorrect_amount', { amount: undefined }],
    ['amount', 'incorrect_amount', { amount: 0 }],
    ['currency', 'incorrect_currency', { currency: 'eur' }],
    ['orderNumber', 'invalid_param', { orderNumber: undefined }],
    ['callbackUrl', 'invalid_param', { callbackUrl: 'shop' }],
    ['product', 'invalid_param', { product: 'x' }],
    ['destination', 'invalid_param', { destination: undefined }],
    ['destination', 'invalid_param', { destination: {} }],
    ['destination', 'invalid_param', { destination: { ...card(payoutCard), bankAccount } }],
    ['destination.card.pan', 'invalid_param', { destination: card('4627') }],
    ['destination.card.expires', 'invalid_param', { destination: { card: { pan: payoutCard } } }],
    [
      'destination.card.expires',
      'invalid_param',
      { destination: { card: { pan: payoutCard, expires: '01/2020' } } },
    ],
    [
      'destination.card.cvv',
      'invalid_param',
      { destination: { card: { ...card(payoutCard).card, cvv: '1' } } },
    ],
    ['destination.bankAccount.account', 'invalid_param', { destination: { bankAccount: { bankName: 'x' } } }],
  ])('refuses a wrong %s (%s, %j) by name', async (parameter, code, fields) => {
    const answer = await payOut(fields);
    expect(refusalOf(answer)).toEqual([400, code, parameter]);
    expect(answer.text).not.toContain(payoutCard);
    expect((await harness.ledger()).payouts).toEqual([]);
  });

  it('survives a lost reply', async () => {
    await harness.setFaults({ operation: 'payout', fault: 'lost_reply', times: 1 });
    await expect(payOut()).rejects.toThrow();
    const { payouts, calls } = await harness.ledger('P-1');
    expect(payouts).toHaveLength(1);
    expect(calls).toMatchObject([{ operation: 'payout', effect: 'created', answer: 'lost_reply' }]);
  });
});
