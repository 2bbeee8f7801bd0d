import { describe, expect, it } from 'vitest';
import { parseIdempotencyKey, parsePaymentRequest, toTerms } from './payment-request.ts';

const minimal = { product: 'Tea', amount: 1250, currency: 'EUR' };

function errorsOf(body: unknown) {
  const parsed = parsePaymentRequest(body);
  return parsed.kind === 'refused' ? parsed.errors.map(({ code, parameter }) => ({ code, parameter })) : [];
}

describe('parsePaymentRequest', () => {
  it('takes a request without a callbackUrl, which the service itself would not', () => {
    expect(parsePaymentRequest(minimal)).toEqual({ kind: 'parsed', value: minimal });
  });

  it.each([
    ['null', null, 'invalid_param', 'body'],
    ['an array', [minimal], 'invalid_param', 'body'],
    ['no product', { ...minimal, product: undefined }, 'invalid_param', 'product'],
    ['an amount of a half', { ...minimal, amount: 0.5 }, 'incorrect_amount', 'amount'],
    ['an amount as text', { ...minimal, amount: '1250' }, 'incorrect_amount', 'amount'],
    ['an amount beyond safe integers', { ...minimal, amount: 2 ** 53 }, 'incorrect_amount', 'amount'],
    ['a currency in small letters', { ...minimal, currency: 'eur' }, 'incorrect_currency', 'currency'],
    ['an unknown field', { ...minimal, color: 'red' }, 'invalid_param', 'color'],
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
    ['a card', { ...minimal, card: {} }, 'card_data_not_accepted', 'card'],
    [
      'a card number in the product',
      { ...minimal, product: 'Tea 4392963203551251' },
      'card_data_not_accepted',
      'product',
    ],
    ['a recurring token', { ...minimal, recurringToken: 'rec_1' }, 'invalid_param', 'recurringToken'],
    ['a recurring payment', { ...minimal, recurring: true }, 'invalid_param', 'recurring'],
  ])('refuses %s and names the parameter', (_name, body, code, parameter) => {
    expect(errorsOf(body)).toEqual([{ code, parameter }]);
  });

  it('never repeats a value that it refuses', () => {
    const parsed = parsePaymentRequest({
      ...minimal,
      product: 'Tea 4392963203551251',
      amount: 'secret-amount',
    });
    expect(JSON.stringify(parsed)).not.toMatch(/4392963203551251|secret-amount/);
  });
});

describe('toTerms', () => {
  it('keeps what a further attempt needs', () => {
    const parsed = parsePaymentRequest({ ...minimal, orderNumber: 'order-1', needConfirmation: true });
    if (parsed.kind === 'refused') throw new Error('refused');
    expect(toTerms(parsed.value)).toMatchObject({
      ...minimal,
      kind: 'hosted',
      orderNumber: 'order-1',
      needConfirmation: true,
    });
  });
});

describe('parseIdempotencyKey', () => {
  it.each([
    ['bare', 'abc', 'abc'],
    ['quoted', '"abc"', 'abc'],
    ['255 characters long', 'k'.repeat(255), 'k'.repeat(255)],
  ])('takes a key that is %s', (_name, header, value) => {
    expect(parseIdempotencyKey(header, 'order-1')).toEqual({
      kind: 'parsed',
      value: { source: 'Idempotency-Key', value },
    });
  });

  it('lets the order number stand in', () => {
    expect(parseIdempotencyKey(undefined, 'order-1')).toEqual({
      kind: 'parsed',
      value: { source: 'orderNumber', value: 'order-1' },
    });
  });

  it.each([
    ['missing, with no order number', undefined, 'idempotency_key_missing'],
    ['empty', '', 'invalid_param'],
    ['empty in quotes', '""', 'invalid_param'],
    ['too long', 'k'.repeat(256), 'invalid_param'],
    ['not printable', 'a\tb', 'invalid_param'],
    ['a card number', '4392963203551251', 'card_data_not_accepted'],
  ])('refuses a key that is %s', (_name, header, code) => {
    const parsed = parseIdempotencyKey(header, undefined);
    expect(parsed).toMatchObject({ kind: 'refused', errors: [{ code, parameter: 'Idempotency-Key' }] });
  });
});
