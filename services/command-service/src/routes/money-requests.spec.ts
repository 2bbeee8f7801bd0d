import { describe, expect, it } from 'vitest';
import { teamCaller as caller } from '../testing/app.ts';
import { card } from '@tollgate/core/testing';
import { parsePayoutRequest, parseRefundRequest } from './requests.ts';

const { pan, expires } = card;
const bankAccount = { bankName: 'A bank', account: 'DE02120300000000202051' };
const minimal = { amount: 500, currency: 'EUR', orderNumber: 'order-1', destination: { bankAccount } };

const shop = { ...caller, allowedOrigins: { callback: ['https://shop.example'], redirect: undefined } };
const withoutCards = { ...shop, scopes: new Set(['payouts' as const]) };

function errorsOf(parsed: ReturnType<typeof parsePayoutRequest>) {
  return parsed.kind === 'refused' ? parsed.errors.map(({ code, parameter }) => ({ code, parameter })) : [];
}

describe('parsePayoutRequest', () => {
  it.each([
    ['a bank account', { bankAccount }],
    ['a card', { card: { pan, expires } }],
    ['a recurring token', { recurringToken: 'rec_1' }],
  ])('accepts %s', (_name, destination) => {
    const body = { ...minimal, destination };
    expect(parsePayoutRequest(body, shop)).toEqual({ kind: 'parsed', value: body });
  });

  it.each([
    ['no destination', { destination: {} }, 'invalid_param', 'destination'],
    [
      'two destinations',
      { destination: { bankAccount, recurringToken: 'rec_1' } },
      'invalid_param',
      'destination',
    ],
    [
      'a card with its verification value',
      { destination: { card: { pan, expires, cvv: '737' } } },
      'invalid_param',
      'destination.card.cvv',
    ],
    ['an amount of nothing', { amount: 0 }, 'incorrect_amount', 'amount'],
    ['a currency of nobody', { currency: 'euro' }, 'incorrect_currency', 'currency'],
    ['a script as address', { callbackUrl: 'javascript:alert(1)' }, 'invalid_param', 'callbackUrl'],
    [
      "a line break in the bank's name",
      { destination: { bankAccount: { ...bankAccount, bankName: 'A\nbank' } } },
      'invalid_param',
      'destination.bankAccount.bankName',
    ],
    ['a card number as order number', { orderNumber: pan }, 'card_data_not_accepted', 'orderNumber'],
    [
      "a card number as the bank's name",
      { destination: { bankAccount: { ...bankAccount, bankName: `bank ${pan}` } } },
      'card_data_not_accepted',
      'destination.bankAccount.bankName',
    ],
    [
      'a card number as recurring token',
      { destination: { recurringToken: pan } },
      'card_data_not_accepted',
      'destination.recurringToken',
    ],
    [
      'a card number in the callback address',
      { callbackUrl: `https://shop.example/${pan}` },
      'card_data_not_accepted',
      'callbackUrl',
    ],
  ])('refuses %s and names the parameter', (_name, change, code, parameter) => {
    const parsed = parsePayoutRequest({ ...minimal, ...change }, shop);
    expect(errorsOf(parsed)).toEqual([{ code, parameter }]);
    expect(JSON.stringify(parsed)).not.toContain(pan);
  });

  it.each([
    ['whole', { card: { pan, expires } }],
    ['empty', { card: {} }],
    ['nothing', { card: null }],
  ])('refuses a card (%s) of a key without the scope for it, before anything else', (_name, destination) => {
    const error = { code: 'card_data_not_accepted', parameter: 'destination.card' };
    expect(errorsOf(parsePayoutRequest({ destination, color: 'red' }, withoutCards))).toEqual([error]);
  });

  // Its last four digits were kept, and all of them in a fingerprint that gave them back.
  it.each([pan, '4392 9632 0355 1251', `00${pan}`])(
    'refuses the card number %j as a bank account, and names the field for cards',
    (account) => {
      const parsed = parsePayoutRequest(
        { ...minimal, destination: { bankAccount: { ...bankAccount, account } } },
        shop,
      );
      expect(errorsOf(parsed)).toEqual([
        { code: 'card_data_not_accepted', parameter: 'destination.bankAccount.account' },
      ]);
      expect(JSON.stringify(parsed)).toContain('destination.card');
    },
  );

  it.each(['DE89370400440532013000', '4392963203551252', '0532013000'])(
    'accepts the bank account %s, which is not a card number',
    (account) => {
      const destination = { bankAccount: { ...bankAccount, account } };
      expect(parsePayoutRequest({ ...minimal, destination }, withoutCards)).toMatchObject({ kind: 'parsed' });
    },
  );

  it.each([null, [], 'text', { destination: null }, { destination: 'text' }])('refuses %j', (body) => {
    expect(parsePayoutRequest(body, withoutCards).kind).toBe('refused');
  });
});

it('parseRefundRequest accepts a token with and without an amount', () => {
  for (const body of [{ token: 'pay_1' }, { token: 'pay_1', amount: 60 }])
    expect(parseRefundRequest(body)).toEqual({ kind: 'parsed', value: body });
});

it('metadata of a refund and of a payout contain no card number', () => {
  const metadata = { note: '4392963203551251' };
  const payout = { amount: 1, currency: 'EUR', orderNumber: 'o', destination: { recurringToken: 'rec_1' } };
  for (const parsed of [
    parseRefundRequest({ token: 't', metadata }),
    parsePayoutRequest({ ...payout, metadata }, shop),
  ])
    expect(errorsOf(parsed as never)).toMatchObject([
      { code: 'card_data_not_accepted', parameter: 'metadata.note' },
    ]);
});
