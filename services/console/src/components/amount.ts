/** Amounts are in minor units; the number of decimal digits depends on the currency. */
import { minorUnitDigits } from '@tollgate/core/money';
import { type Html, html } from '@tollgate/service-kit';

/**
 * Uses ISO 4217 rather than `Intl`, which has the digits of retail prices: HUF, COP and IDR have none there, and two
 * here. Unknown currencies are refused by the API.
 */
const digitsOf = (currency: string): number => minorUnitDigits(currency) ?? 2;

/** For example `1,250.00`. */
export function decimalOf(minor: number, currency: string): string {
  const digits = digitsOf(currency);
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  // Uses text: a quotient of numbers would round large amounts.
  return new Intl.NumberFormat('en', format).format(`${minor}E-${digits}` as `${number}`);
}

/** In the format of an input field: `1250.00`. */
export const typedAmount = (minor: number, currency: string): string =>
  decimalOf(minor, currency).replaceAll(',', '');

/** An example of the input format of a currency, for an error message. */
export const amountExample = (currency: string): string =>
  typedAmount(1_250 * 10 ** digitsOf(currency), currency);

/** The answer to a form with an invalid amount. */
export const refusedAmountText = (currency: string): string =>
  `This is not an amount in ${currency}. Write it like ${amountExample(currency)}. Nothing was sent.`;

/** For example `1,250.00 EUR`. */
export const amountText = (minor: number, currency: string): string =>
  `${decimalOf(minor, currency)} ${currency}`;

export const amount = (minor: number, currency: string): Html =>
  html`<span class="amount">${decimalOf(minor, currency)} <span class="currency">${currency}</span></span>`;

/** Minor units of a text such as `12.50`; undefined if the text is no amount of this currency, or ambiguous. */
export function parseAmount(text: string, currency: string): number | undefined {
  const digits = digitsOf(currency);
  const [, whole, , mark, fraction = ''] = /^(\d{1,16})(([.,])(\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > digits) return undefined;
  // `1,250` means a thousand and more to us, and one and a quarter elsewhere.
  if (mark === ',' && fraction.length === 3) return undefined;
  const minor = Number(`${whole}${fraction.padEnd(digits, '0')}`);
  return Number.isSafeInteger(minor) ? minor : undefined;
}
