import { describe, expect, it } from 'vitest';
import { teamCaller as anyCaller } from '../testing/app.ts';
import { card } from '@tollgate/core/testing';
import { toTerms } from '@tollgate/core';
import { bodySchemas } from '@tollgate/gateway-api/http';
import { parsePaymentRequest } from './requests.ts';

const minimal = { product: 'Tea', amount: 1250, currency: 'EUR' };
const origins = ['https://shop.example'];
const caller = { ...anyCaller, allowedOrigins: { callback: origins, redirect: origins } };
const withoutCards = { ...caller, scopes: new Set(['payments' as const]) };

function errorsOf(body: unknown, by = caller as typeof anyCaller) {
  const parsed = parsePaymentRequest(body, by);
  return parsed.kind === 'refused' ? parsed.errors.map(({ code, parameter }) => ({ code, parameter })) : [];
}

describe('metadata', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'x']));

  it.each([
    [{ order: '4711', 'a.b-c_D': '' }],
    [many(50)],
    [{ ['n'.repeat(40)]: 'x'.repeat(500) }],
    [{ constructor: 'x', text: 'Tee für zwei' }],
  ])('of %j is accepted unchanged', (metadata) => {
    expect(parsePaymentRequest({ ...minimal, metadata }, caller)).toMatchObject({ value: { metadata } });
  });

  it.each<[object | string, string, string]>([
    ['text', 'invalid_param', 'metadata'],
    [['list'], 'invalid_param', 'metadata'],
    [many(51), 'invalid_param', 'metadata'],
    [{ ['n'.repeat(41)]: 'x' }, 'invalid_param', 'metadata'],
    [{ '': 'x' }, 'invalid_param', 'metadata'],
    [{ 'a[b]': 'x' }, 'invalid_param', 'metadata'],
    [{ order: 'x'.repeat(501) }, 'invalid_param', 'metadata.order'],
    [{ order: 4711 }, 'invalid_param', 'metadata.order'],
    [{ order: 'a\nb' }, 'invalid_param', 'metadata'],
    [
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, '語'.repeat(500)])),
      'invalid_param',
      'metadata',
    ],
    [{ note: '4392 9632 0355 1251' }, 'card_data_not_accepted', 'metadata.note'],
    [{ '4392963203551251': 'x' }, 'card_data_not_accepted', 'metadata'],
    // It stayed in the books after the customer was erased.
    [{ note: 'for ada@example.com' }, 'invalid_param', 'metadata.note'],
  ])('of %.40j is refused', (metadata, code, parameter) => {
    expect(errorsOf({ ...minimal, metadata })).toEqual([{ code, parameter }]);
  });

  it('is part of the terms if present, and absent otherwise', () => {
    expect(toTerms({ ...minimal, metadata: { a: 'b' } }).metadata).toEqual({ a: 'b' });
    expect(toTerms(minimal)).not.toHaveProperty('metadata');
  });
});

describe('parsePaymentRequest', () => {
  it('accepts a request without a callbackUrl, which the provider itself would refuse', () => {
    expect(parsePaymentRequest(minimal, caller)).toEqual({ kind: 'parsed', value: minimal });
  });

  it.each([
    ['an amount of a half', { ...minimal, amount: 0.5 }, 'incorrect_amount', 'amount'],
    ['an amount as text', { ...minimal, amount: '1250' }, 'incorrect_amount', 'amount'],
    ['an amount beyond safe integers', { ...minimal, amount: 2 ** 53 }, 'incorrect_amount', 'amount'],
    ['a currency in small letters', { ...minimal, currency: 'eur' }, 'incorrect_currency', 'currency'],
    ['an e-mail address', { ...minimal, orderNumber: 'ada@example.com' }, 'invalid_param', 'orderNumber'],
    [
      'a script as address',
      { ...minimal, redirectSuccessUrl: 'javascript:alert(1)' },
      'invalid_param',
      'redirectSuccessUrl',
    ],
    [
      'a user in an address',
      { ...minimal, redirectFailUrl: 'https://shop@evil.example' },
      'invalid_param',
      'redirectFailUrl',
    ],
    [
      'a backslash in an address',
      { ...minimal, callbackUrl: 'https://shop.example\\@evil.example' },
      'invalid_param',
      'callbackUrl',
    ],
    [
      'a card number in the product',
      { ...minimal, product: 'Tea 4392963203551251' },
      'card_data_not_accepted',
      'product',
    ],
    [
      'a card number in an address',
      { ...minimal, redirectFailUrl: 'https://shop.example/4392963203551251' },
      'card_data_not_accepted',
      'redirectFailUrl',
    ],
    [
      'a card number as its holder',
      { ...minimal, card: { ...card, holder: card.pan } },
      'card_data_not_accepted',
      'card.holder',
    ],
    [
      'a card number as a name of the customer',
      { ...minimal, customer: { email: '4392963203551251@shop.example' } },
      'card_data_not_accepted',
      'customer.email',
    ],
    [
      'a card and a recurring token',
      { ...minimal, card, recurringToken: 'rec_1' },
      'invalid_param',
      'recurringToken',
    ],
    [
      'a recurring token and a request for one',
      { ...minimal, recurring: true, recurringToken: 'rec_1' },
      'invalid_param',
      'recurring',
    ],
  ])('refuses %s and names the parameter', (_name, body, code, parameter) => {
    expect(errorsOf(body)).toEqual([{ code, parameter }]);
  });

  it.each(['\u0000', '\n', '\u007f', '\u0085', '\u2028', '\u202e', '\u2066', '\u200f', '\ud800'])(
    'refuses %j in a text, and names the field',
    (char) => {
      expect(errorsOf({ ...minimal, product: `Tea${char}pot` })).toEqual([
        { code: 'invalid_param', parameter: 'product' },
      ]);
      expect(errorsOf({ ...minimal, card: { ...card, holder: `Ada${char}` } })).toEqual([
        { code: 'invalid_param', parameter: 'card.holder' },
      ]);
    },
  );

  it.each(['Tee für zwei', 'شاي لشخصين', '茶を二杯', 'Tea 👩‍👩‍👧 for all', 'O’Neill & Sons – 5 % off'])(
    'accepts the text %j',
    (product) => {
      expect(errorsOf({ ...minimal, product })).toEqual([]);
    },
  );

  it('accepts a network address of the customer that looks like a card number', () => {
    expect(errorsOf({ ...minimal, customer: { ip: '4392:9632:355:1251::' } })).toEqual([]);
  });

  it('never repeats a value that it refuses', () => {
    const parsed = parsePaymentRequest(
      {
        ...minimal,
        product: 'Tea 4392963203551251',
        amount: 'secret-amount',
      },
      caller,
    );
    expect(JSON.stringify(parsed)).not.toMatch(/4392963203551251|secret-amount/);
  });

  it.each([
    ['whole', card],
    ['empty', {}],
    ['nothing', null],
  ])('refuses a card (%s) of a key without the scope for it, before anything else', (_name, sent) => {
    const error = { code: 'card_data_not_accepted', parameter: 'card' };
    expect(errorsOf({ card: sent, color: 'red' }, withoutCards)).toEqual([error]);
  });

  it('accepts a card with the scope for it', () => {
    expect(errorsOf({ ...minimal, card, recurring: true })).toEqual([]);
  });
});

describe('toTerms', () => {
  it('keeps the data that a further attempt needs', () => {
    const body = { ...minimal, orderNumber: 'order-1', needConfirmation: true };
    const parsed = parsePaymentRequest(body, caller);
    if (parsed.kind === 'refused') throw new Error('refused');
    expect(toTerms(parsed.value)).toMatchObject({
      ...minimal,
      kind: 'hosted',
      orderNumber: 'order-1',
      needConfirmation: true,
    });
  });

  it.each([
    ['a card', { card }, { kind: 'card' }],
    ['a recurring token', { recurringToken: 'rec_1' }, { kind: 'recurring', recurringToken: 'rec_1' }],
    ['a request for a recurring token', { recurring: true }, { kind: 'hosted', recurring: true }],
  ])('determines the means of payment: %s', (_name, more, expected) => {
    const parsed = parsePaymentRequest({ ...minimal, ...more }, caller);
    if (parsed.kind === 'refused') throw new Error('refused');
    const terms = toTerms(parsed.value);
    expect(terms).toMatchObject(expected);
    expect(JSON.stringify(terms)).not.toMatch(/4392963203551251|737|Ada/);
  });
});

it('the name of a payment is a token and nothing else', () => {
  const isAccepted = (body: object) => bodySchemas.PaymentName.safeParse(body).success;
  expect(isAccepted({ token: 'pay_1' })).toBe(true);
  for (const body of [{ token: '' }, { token: 'x'.repeat(129) }, { token: 'pay_1', more: 1 }])
    expect(isAccepted(body)).toBe(false);
});
