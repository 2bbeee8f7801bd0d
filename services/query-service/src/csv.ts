/** Lines of a CSV file by RFC 4180: fields by comma, quoted if they must be, lines ended by CRLF. */

import { formatAmount } from '@tollgate/core/money';

/**
 * Spreadsheets run a cell that begins with one of these as a formula: a customer's text would run on the machine of the reader
 * who opens the file (CWE-1236). Some accept full-width forms as well.
 *
 * The start of a cell depends on the reader: with the separator `;`, a tab or `|`, a cell begins after each of them and at each
 * line, even inside a quoted field. Leading quotes and spaces do not help.
 */
const formulaStart = /(^|[;|\t\r\n])([ "]*)(?=[=+\-@＝＋－＠'])/g;

/**
 * A text that would begin a formula gets an apostrophe in front, which spreadsheets treat as text. So does one that begins with
 * an apostrophe: removing one apostrophe from each of these places restores the original.
 */
const withoutFormula = (text: string): string =>
  text.replace(formulaStart, "$1$2'").replace(/^(?=[\t\r\n])/, "'");

/** A number beyond floating point, as written. */
interface DecimalCell {
  readonly decimal: string;
}
export type Cell = string | number | bigint | DecimalCell | undefined;

/** An amount in major units. @param amount minor units */
export const decimal = (amount: bigint, currency: string): DecimalCell => ({
  decimal: formatAmount(amount, currency).replace(` ${currency}`, ''),
});

function toField(value: Cell): string {
  if (value === undefined) return '';
  if (typeof value === 'object') return value.decimal;
  const text = typeof value === 'string' ? withoutFormula(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** At the beginning of each file: without it, Excel reads UTF-8 as the local code page. */
export const byteOrderMark = '\uFEFF';

/** One line; undefined is an empty field. */
export const toCsvLine = (values: readonly Cell[]): string => `${values.map(toField).join(',')}\r\n`;
