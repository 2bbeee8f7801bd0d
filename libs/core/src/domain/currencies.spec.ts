import { describe, expect, it } from 'vitest';
import { formatAmount, isCurrency, minorUnitDigits } from './money.ts';

/** Codes that the runtime still lists and ISO 4217 does not, or that cannot be charged. */
const notActive = {
  withdrawn: ['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL', 'DEM', 'MRO', 'STD', 'VEF', 'BYR', 'LTL'],
  withoutMinorUnit: ['XDR', 'XSU', 'XUA', 'XAU', 'XAG', 'XPT', 'XPD', 'XBA', 'XTS', 'XXX'],
};

describe('the currencies', () => {
  it('omit withdrawn codes and codes without a minor unit', () => {
    for (const code of [...notActive.withdrawn, ...notActive.withoutMinorUnit])
      expect([code, isCurrency(code)]).toEqual([code, false]);
  });

  it('include their replacements', () => {
    for (const code of ['XCG', 'EUR', 'CUP', 'SLE', 'ZWG', 'MRU', 'STN', 'VES', 'BYN', 'XAD'])
      expect([code, isCurrency(code)]).toEqual([code, true]);
  });

  it('include every other code that the runtime lists', () => {
    const explained = new Set(Object.values(notActive).flat());
    const missing = Intl.supportedValuesOf('currency').filter(
      (code) => !isCurrency(code) && !explained.has(code),
    );
    expect(missing).toEqual([]);
  });

  it.each([
    ['JPY', 0],
    ['KRW', 0],
    ['ISK', 0],
    ['UYI', 0],
    ['EUR', 2],
    ['HUF', 2],
    ['COP', 2],
    ['IDR', 2],
    ['MGA', 2],
    ['BHD', 3],
    ['IQD', 3],
    ['CLF', 4],
    ['UYW', 4],
  ])('%s has %d digits, by ISO 4217 and not by the runtime', (code, digits) => {
    expect(minorUnitDigits(code)).toBe(digits);
  });

  it.each(['eur', '', 'EU', 'constructor', '__proto__'])('%j is not a currency', (code) => {
    expect(isCurrency(code)).toBe(false);
    expect(minorUnitDigits(code)).toBeUndefined();
  });
});

describe('an amount for people', () => {
  it.each([
    [123450, 'EUR', '1234.50 EUR'],
    [5, 'EUR', '0.05 EUR'],
    [0, 'EUR', '0.00 EUR'],
    [100, 'EUR', '1.00 EUR'],
    [-5, 'EUR', '-0.05 EUR'],
    [-123450, 'EUR', '-1234.50 EUR'],
    [1234, 'JPY', '1234 JPY'],
    [0, 'JPY', '0 JPY'],
    [-7, 'JPY', '-7 JPY'],
    [1234, 'BHD', '1.234 BHD'],
    [7, 'BHD', '0.007 BHD'],
    [12345, 'CLF', '1.2345 CLF'],
    [Number.MAX_SAFE_INTEGER, 'EUR', '90071992547409.91 EUR'],
    [12, 'ABC', '12 ABC'],
  ])('%d %s is %s', (amount, currency, text) => {
    expect(formatAmount(amount, currency)).toBe(text);
  });
});
