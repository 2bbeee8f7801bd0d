import { describe, expect, it } from 'vitest';
import { amountSchema, currencySchema, isFinalStatus, paymentStatuses } from './money.ts';

const faultsOf = (schema: typeof amountSchema | typeof currencySchema, value: unknown) =>
  schema.safeParse(value).error?.issues.map((issue) => issue.message) ?? [];

describe('an amount', () => {
  it.each([1, 100, Number.MAX_SAFE_INTEGER])('may be %d', (amount) => {
    expect(amountSchema.parse(amount)).toBe(amount);
  });

  it.each([1.5, 2 ** 53, '100', Number.NaN, Infinity, -Infinity, null, 1n, true, [1]])(
    'is never %s',
    (amount) => {
      expect(faultsOf(amountSchema, amount)).toEqual(['must be an integer in minor units']);
    },
  );

  it.each([0, -0, -1, Number.MIN_SAFE_INTEGER])('is at least 1, not %d', (amount) => {
    expect(faultsOf(amountSchema, amount)).toEqual(['must be at least 1']);
  });
});

describe('a currency', () => {
  it.each(['EUR', 'JPY', 'BHD', 'XCG'])('may be %s', (code) => {
    expect(currencySchema.parse(code)).toBe(code);
  });

  it.each(['eur', 'Eur', 'HRK', 'BGN', 'EURO', ' EUR', '978', '', 'constructor', 978, null])(
    'is not %j',
    (code) => {
      expect(faultsOf(currencySchema, code)).toEqual([
        'must be an ISO 4217 alphabetic code in capitals, for example EUR',
      ]);
    },
  );
});

it.each([
  ['amount', amountSchema],
  ['currency', currencySchema],
])('distinguishes a missing %s from a wrong one', (_name, schema) => {
  expect(faultsOf(schema, undefined)).toEqual(['is missing']);
});

describe('a status', () => {
  it('is final as the specification says', () => {
    expect(paymentStatuses.filter(isFinalStatus)).toEqual(['approved', 'declined', 'refunded', 'expired']);
  });
});
