/** Amounts are minor units; how many make a whole is the currency's. */
import { type Html, html } from '@tollgate/service-kit';

function fractionDigitsOf(currency: string): number {
  try {
    return (
      new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ??
      2
    );
  } catch {
    return 2;
  }
}

/** As in `1,250.00`. */
export function decimalOf(minor: number, currency: string): string {
  const digits = fractionDigitsOf(currency);
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat('en', format).format(minor / 10 ** digits);
}

/** As in `1,250.00 EUR`. */
export const amountText = (minor: number, currency: string): string =>
  `${decimalOf(minor, currency)} ${currency}`;

export const amount = (minor: number, currency: string): Html =>
  html`<span class="amount">${decimalOf(minor, currency)} <span class="currency">${currency}</span></span>`;

/** Minor units of a text such as `12.50`; undefined for what is no amount of this currency. */
export function parseAmount(text: string, currency: string): number | undefined {
  const digits = fractionDigitsOf(currency);
  const [, whole, , fraction = ''] = /^(\d{1,10})([.,](\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > digits) return undefined;
  return Number(`${whole}${fraction.padEnd(digits, '0')}`);
}
