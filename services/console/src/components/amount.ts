/** Amounts are minor units; how many make a whole is the currency's. */
import { minorUnitDigits } from '@tollgate/core/money';
import { type Html, html } from '@tollgate/service-kit';

/**
 * By ISO 4217 and not by `Intl`, whose digits are those of prices in shops: HUF, COP and IDR have none there, and two here.
 * What is no currency is refused by the API.
 */
const digitsOf = (currency: string): number => minorUnitDigits(currency) ?? 2;

/** As in `1,250.00`. */
function decimalOf(minor: number, currency: string): string {
  const digits = digitsOf(currency);
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  // As text: a quotient of numbers would round large amounts.
  return new Intl.NumberFormat('en', format).format(`${minor}E-${digits}` as `${number}`);
}

/** As somebody types it: `1250.00`. */
export const typedAmount = (minor: number, currency: string): string =>
  decimalOf(minor, currency).replaceAll(',', '');

/** How an amount of this currency is typed, for who has typed it otherwise. */
export const amountExample = (currency: string): string =>
  typedAmount(1_250 * 10 ** digitsOf(currency), currency);

/** As in `1,250.00 EUR`. */
export const amountText = (minor: number, currency: string): string =>
  `${decimalOf(minor, currency)} ${currency}`;

export const amount = (minor: number, currency: string): Html =>
  html`<span class="amount">${decimalOf(minor, currency)} <span class="currency">${currency}</span></span>`;

/** Minor units of a text such as `12.50`; undefined for what is no amount of this currency, or may be one of two. */
export function parseAmount(text: string, currency: string): number | undefined {
  const digits = digitsOf(currency);
  const [, whole, , mark, fraction = ''] = /^(\d{1,16})(([.,])(\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > digits) return undefined;
  // `1,250` is how we write a thousand and more, and how others write one and a quarter.
  if (mark === ',' && fraction.length === 3) return undefined;
  const minor = Number(`${whole}${fraction.padEnd(digits, '0')}`);
  return Number.isSafeInteger(minor) ? minor : undefined;
}
