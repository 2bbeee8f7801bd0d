import { createPaymentAnswerSchema } from '@tollgate/payment-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { refusalOf, startHarness, type Harness } from './testing/harness.ts';
import {
  approvedCard,
  authenticatedCard,
  authenticatedDeclinedCard,
  cardData,
  declinedCard,
  tea,
  unknownCard,
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

const post = (fields: object) => harness.call('POST', '/api/v1/payments', { ...tea, ...fields });
const created = async (fields: object) => createPaymentAnswerSchema.parse((await post(fields)).body);
const newRecurringToken = async (fields: object = {}): Promise<string> => {
  const { token } = await created({ card: cardData(approvedCard), recurring: true, ...fields });
  return String((await harness.retrieve(token)).recurringToken);
};

describe('a creation with a card', () => {
  it.each([
    [approvedCard, 'approved', undefined],
    [declinedCard, 'declined', 'card_declined'],
    [unknownCard, 'declined', 'card_declined'],
  ])('%s is %s at once, without a page', async (pan, status, declineReason) => {
    const answer = await created({ card: cardData(pan) });
    expect(answer.payment).toEqual({ amount: tea.amount, currency: 'EUR', status });
    expect(answer.processingUrl).toBeUndefined();
    const payment = await harness.retrieve(answer.token);
    expect([payment.status, payment.declineReason]).toEqual([status, declineReason]);
    expect(payment.sanitizedMask).toBe(`${pan.slice(0, 6)}******${pan.slice(-4)}`);
  });

  it.each([
    [authenticatedCard, 'confirm', 'approved'],
    [authenticatedCard, 'reject', 'declined'],
    [authenticatedDeclinedCard, 'confirm', 'declined'],
  ])('%s is pending, and after its authentication (%s) %s', async (pan, choice, status) => {
    const { token, payment, processingUrl } = await created({ card: cardData(pan) });
    expect(payment?.status).toBe('pending');
    expect(processingUrl).toBe(`${harness.addresses().httpsUrl}/checkout/${token}/authentication`);
    expect((await harness.retrieve(token)).processingUrl).toBe(processingUrl);
    const page = await harness.browse(`/checkout/${token}/authentication`);
    expect([page.statusCode, page.text.match(/<button /g)]).toMatchObject([200, { length: 2 }]);
    await harness.browse(`/checkout/${token}/authentication`, { answer: choice });
    expect((await harness.retrieve(token)).status).toBe(status);
    expect((await harness.retrieve(token)).processingUrl).toBeUndefined();
  });

  it('holds the money where a confirmation is asked for', async () => {
    const { token, payment, processingUrl } = await created({
      card: cardData(approvedCard),
      needConfirmation: true,
    });
    expect([payment?.status, processingUrl]).toEqual(['pending', undefined]);
    await harness.call('POST', '/api/v1/payments/confirm', { token });
    expect((await harness.retrieve(token)).status).toBe('approved');
  });

  it('sends a callback for each status', async () => {
    const before = receiver.received.length;
    await created({ card: cardData(approvedCard), callbackUrl: receiver.url });
    await receiver.waitFor(before + 2);
    expect(receiver.statuses().slice(before)).toEqual(['pending', 'approved']);
  });

  it.each([
    ['card', 'card'],
    ['card.pan', { ...cardData(approvedCard), pan: undefined }],
    ['card.pan', { ...cardData(approvedCard), pan: '4392 9632 0355 1251' }],
    ['card.pan', { ...cardData(approvedCard), pan: 4392963203551251 }],
    ['card.expires', { ...cardData(approvedCard), expires: '12/99' }],
    ['card.expires', { ...cardData(approvedCard), expires: '13/2099' }],
    ['card.expires', { ...cardData(approvedCard), expires: '01/2020' }],
    ['card.holder', { ...cardData(approvedCard), holder: '' }],
    ['card.cvv', { ...cardData(approvedCard), cvv: '98' }],
    ['card.pin', { ...cardData(approvedCard), pin: '1234' }],
  ])('refuses a wrong %s by name, without repeating it (%j)', async (parameter, card) => {
    const answer = await post({ card, orderNumber: 'wrong-card' });
    expect(refusalOf(answer)).toEqual([400, 'invalid_param', parameter]);
    expect(answer.text).not.toMatch(/4392|1251|Lovelace|987|2020/);
    expect((await harness.ledger('wrong-card')).payments).toEqual([]);
  });
});

describe('a creation with a recurring token', () => {
  const charge = (recurringToken: string, fields: object = {}) => post({ recurringToken, ...fields });

  it('is approved at once, without a customer, as often as asked', async () => {
    const recurringToken = await newRecurringToken();
    for (let times = 0; times < 2; times += 1) {
      const answer = createPaymentAnswerSchema.parse((await charge(recurringToken)).body);
      expect([answer.payment?.status, answer.processingUrl]).toEqual(['approved', undefined]);
      expect(await harness.retrieve(answer.token)).toMatchObject({
        recurringToken,
        sanitizedMask: '439296******1251',
      });
    }
  });

  it('charges a card that had to be authenticated the first time', async () => {
    const { token } = await created({ card: cardData(authenticatedCard), recurring: true });
    await harness.browse(`/checkout/${token}/authentication`, { answer: 'confirm' });
    const { recurringToken } = await harness.retrieve(token);
    expect((await charge(String(recurringToken))).body['payment']).toMatchObject({ status: 'approved' });
  });

  it('takes the token of a hosted payment', async () => {
    const token = await harness.createApproved({ recurring: true });
    const { recurringToken } = await harness.retrieve(token);
    expect((await charge(String(recurringToken))).body['payment']).toMatchObject({ status: 'approved' });
  });

  it('holds the money where a confirmation is asked for', async () => {
    const answer = await charge(await newRecurringToken(), { needConfirmation: true });
    const token = String(answer.body['token']);
    expect(await harness.retrieve(token)).toMatchObject({ status: 'pending', heldAmount: tea.amount });
  });

  it('is declined where the card behind declines: the first payment was revised since', async () => {
    const { token } = await created({ card: cardData(approvedCard), recurring: true });
    const { recurringToken } = await harness.retrieve(token);
    await harness.call('POST', `/sandbox/payments/${token}/revise`, { status: 'declined' });
    expect((await charge(String(recurringToken))).body['payment']).toMatchObject({ status: 'declined' });
  });

  it('gives no token out for a declined payment', async () => {
    const { token } = await created({ card: cardData(declinedCard), recurring: true });
    expect((await harness.retrieve(token)).recurringToken).toBeUndefined();
  });

  it('refuses an unknown token, and one of another merchant, in the same words', async () => {
    const unknown = await charge('unknown');
    expect(refusalOf(unknown)).toEqual([409, 'recurring_token_not_found', 'recurringToken']);
    const body = { ...tea, recurringToken: await newRecurringToken() };
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const strangers = await harness.call('POST', '/api/v1/payments', body, stranger);
    expect(strangers).toEqual(unknown);
  });

  it('refuses a card beside it', async () => {
    const answer = await charge('any', { card: cardData(approvedCard) });
    expect(refusalOf(answer)).toEqual([400, 'invalid_param', 'recurringToken']);
  });
});
