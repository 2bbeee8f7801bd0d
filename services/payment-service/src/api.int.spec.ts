/** API behavior beyond the conformance suite: ownership, races, and data that must not be echoed. */
import { Secret } from '@tollgate/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorsOf, refusalOf, startHarness, type Harness } from './testing/harness.ts';
import { approvedCard, bankAccount, cardData, dayMs, payoutCard, tea } from './testing/samples.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.remove());

const post = (path: string, body: unknown, authorization?: string) =>
  harness.call('POST', `/api/v1/${path}`, body, authorization);
const create = (fields: object) => post('payments', { ...tea, ...fields });
const newStranger = async () => `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;

describe('the key', () => {
  it.each([
    ['POST', '/api/v1/payments'],
    ['GET', '/sandbox/ledger'],
    ['POST', '/sandbox/faults'],
  ] as const)('is checked for %s %s before the body is read', async (method, path) => {
    const answer = await harness.call(method, path, method === 'POST' ? 'not json' : undefined, null);
    expect(refusalOf(answer)).toEqual([401, 'auth_header_not_found', 'Authorization']);
  });

  it('of another merchant or environment cannot be registered', async () => {
    const register = (key: string) => harness.addMerchant({ name: 'thief', key: new Secret(key) });
    await expect(register(harness.key())).rejects.toMatchObject({ code: 'key_taken' });
    await expect(register(`sk_production_${'k'.repeat(32)}`)).rejects.toMatchObject({ code: 'key_invalid' });
  });
});

describe('a creation', () => {
  it.each([
    ['a poisoned prototype', '{"__proto__":{"a":1}}', 'invalid_json', 400],
    ['a list', [tea], 'invalid_param', 400],
    ['null', 'null', 'invalid_param', 400],
    ['larger than 64 KiB', { ...tea, product: 'x'.repeat(70_000) }, 'request_too_large', 413],
  ])('whose body is %s is refused', async (_name, body, code, statusCode) => {
    const answer = await post('payments', body);
    expect(answer.statusCode).toBe(statusCode);
    expect(errorsOf(answer)).toMatchObject([{ kind: 'invalid_request_error' }]);
    if (statusCode === 400) expect(errorsOf(answer)).toMatchObject([{ code, parameter: 'body' }]);
  });

  it.each([
    ['redirectSuccessUrl', { redirectSuccessUrl: 'javascript:alert(1)' }],
    ['redirectFailUrl', { redirectFailUrl: 'data:text/html,x' }],
    ['card.pan', { card: { ...cardData(approvedCard), pan: '4392 9632 0355 1251' } }],
    ['card.expires', { card: { ...cardData(approvedCard), expires: '01/2020' } }],
    ['card.holder', { card: { ...cardData(approvedCard), holder: '' } }],
    ['card.cvv', { card: { ...cardData(approvedCard), cvv: '98' } }],
    ['card.pin', { card: { ...cardData(approvedCard), pin: '1234' } }],
    ['recurringToken', { card: cardData(approvedCard), recurringToken: 'any' }],
  ])('with a wrong %s is refused by name, without repeating it', async (parameter, fields) => {
    const answer = await create({ ...fields, orderNumber: 'wrong' });
    expect(refusalOf(answer)).toEqual([400, 'invalid_param', parameter]);
    expect(answer.text).not.toMatch(/4392|1251|Lovelace|987|2020/);
    expect((await harness.ledger('wrong')).payments).toEqual([]);
  });

  it('by a recurring token charges no card that declines now, and no card of another merchant', async () => {
    const first = await harness.create({ card: cardData(approvedCard), recurring: true });
    const { recurringToken } = await harness.retrieve(first);
    const body = { ...tea, recurringToken };
    const unknown = await create({ recurringToken: 'unknown' });
    expect(refusalOf(unknown)).toEqual([409, 'recurring_token_not_found', 'recurringToken']);
    expect(await post('payments', body, await newStranger())).toEqual(unknown);
    await harness.call('POST', `/sandbox/payments/${first}/revise`, { status: 'declined' });
    expect((await post('payments', body)).body['payment']).toMatchObject({ status: 'declined' });
  });
});

describe("another merchant's payment", () => {
  it.each([
    ['payments/confirm', 'POST'],
    ['payments/decline', 'POST'],
    ['refunds', 'POST'],
    ['payments/{token}', 'GET'],
  ] as const)('is as unknown to %s as one that does not exist', async (path, method) => {
    const token = await harness.createApproved();
    const stranger = await newStranger();
    const call = (named: string) =>
      harness.call(
        method,
        `/api/v1/${path.replace('{token}', named)}`,
        method === 'POST' ? { token: named } : undefined,
        stranger,
      );
    expect(refusalOf(await call(token))).toEqual([404, 'payment_not_found', 'token']);
    expect(await call(token)).toEqual(await call('0'.repeat(32)));
    expect((await harness.retrieve(token)).status).toBe('approved');
  });
});

describe('a two-step payment', () => {
  it('ends once, however many concurrent confirms and declines arrive', async () => {
    const token = await harness.create({ needConfirmation: true, currency: 'USD', recurring: true });
    await harness.pay(token, { pan: approvedCard });
    expect((await harness.retrieve(token)).recurringToken).toBeUndefined();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        post(`payments/${index % 2 === 0 ? 'confirm' : 'decline'}`, { token }),
      ),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    const { status, recurringToken } = await harness.retrieve(token);
    expect((await harness.balance('USD')).hold).toBe(status === 'approved' ? tea.amount : 0);
    expect(recurringToken !== undefined).toBe(status === 'approved');
  });
});

describe('a payout', () => {
  const payout = { amount: 300, currency: 'EUR', orderNumber: 'P-1', destination: { bankAccount } };

  it.each([
    ['approved', payoutCard],
    ['declined', approvedCard],
  ])('to a card is %s by its number', async (status, pan) => {
    await harness.createApproved();
    await harness.advanceClock(dayMs);
    const { body } = await post('payouts', { ...payout, destination: { card: { pan, expires: '12/2099' } } });
    expect(body['payout']).toMatchObject({ status });
  });

  it.each([
    ['destination', {}],
    ['destination', { card: { pan: payoutCard, expires: '12/2099' }, bankAccount }],
    ['destination.card.expires', { card: { pan: payoutCard, expires: '01/2020' } }],
    ['destination.card.cvv', { card: { pan: payoutCard, expires: '12/2099', cvv: '1' } }],
  ])('with a wrong %s is refused by name, without repeating it', async (parameter, destination) => {
    const answer = await post('payouts', { ...payout, destination });
    expect(refusalOf(answer)).toEqual([400, 'invalid_param', parameter]);
    expect(answer.text).not.toContain(payoutCard);
  });
});
