import { formatAmount, isCurrency, minorUnitDigits } from '@tollgate/core/money';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { amountExample, amountText, parseAmount, typedAmount } from './amount.ts';
import { durationText } from './time.ts';
import { shortToken } from './token.ts';

test.each([
  [125_000, 'EUR', '1,250.00 EUR'],
  [1_250, 'JPY', '1,250 JPY'],
  [1_250, 'KWD', '1.250 KWD'],
  [5, 'EUR', '0.05 EUR'],
])('%i minor units of %s are %s', (minor, currency, text) => {
  expect(amountText(minor, currency)).toBe(text);
});

test.each<[string, string, number | undefined]>([
  ['12.50', 'EUR', 1_250],
  ['12,5', 'EUR', 1_250],
  [' 12 ', 'EUR', 1_200],
  ['12', 'JPY', 12],
  ['12.505', 'EUR', undefined],
  ['1.5', 'JPY', undefined],
  ['-1', 'EUR', undefined],
  ['1e3', 'EUR', undefined],
  ['', 'EUR', undefined],
  ['1,250.00', 'EUR', undefined],
])('%j of %s is read as %s', (text, currency, minor) => {
  expect(parseAmount(text, currency)).toBe(minor);
});

/**
 * Digits follow ISO 4217, not CLDR: with CLDR, 10,000.00 HUF appears as 1,000,000 HUF, and a refund of 2500 returns
 * 25.00.
 */
const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
const currencies = letters
  .flatMap((first) => letters.flatMap((second) => letters.map((third) => first + second + third)))
  .filter(isCurrency);

test('every currency is shown and read with its digits in ISO 4217', () => {
  expect(currencies.length).toBeGreaterThan(150);
  for (const currency of currencies) {
    const shown = amountText(1_250_000, currency).replaceAll(',', '');
    expect(shown).toBe(formatAmount(1_250_000, currency));
    expect(parseAmount('1', currency), currency).toBe(10 ** (minorUnitDigits(currency) ?? 0));
  }
});

/**
 * From 7,000,000,000,000,000 minor units on, floating point rounds the last digits: the form's own default would then
 * be refused.
 */
test('every amount up to 2^53 - 1 is shown exactly and read back from its field, in every currency', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.maxSafeNat(),
        fc.integer({ min: 0, max: 9_999 }).map((less) => Number.MAX_SAFE_INTEGER - less),
      ),
      fc.constantFrom(...currencies),
      (minor, currency) => {
        expect(amountText(minor, currency).replaceAll(',', '')).toBe(formatAmount(minor, currency));
        expect(parseAmount(typedAmount(minor, currency), currency)).toBe(minor);
      },
    ),
    { numRuns: propertyRuns(2_000) },
  );
});

/** A reader who sees 1,250.000 KWD and types 1,250 would refund 1.250. */
test('a comma that may separate thousands is refused, with the correct format', () => {
  expect(parseAmount('1,250', 'KWD')).toBeUndefined();
  expect(parseAmount('1.250', 'KWD')).toBe(1_250);
  expect(['KWD', 'HUF', 'JPY'].map(amountExample)).toEqual(['1250.000', '1250.00', '1250']);
  for (const currency of ['KWD', 'HUF', 'JPY'])
    expect(parseAmount(amountExample(currency), currency)).toBeDefined();
});

it('durations and tokens are short', () => {
  const texts = [12, 1_240, 42_000, 8_040_000, 90_000_000].map(durationText);
  expect(texts).toEqual(['12 ms', '1.2 s', '42 s', '2 h 14 min', '1 d 1 h']);
  expect(shortToken('pay_7f3kabcdefghq2xa')).toBe('pay_7f3k…q2xa');
  expect(shortToken('pay_1')).toBe('pay_1');
});
