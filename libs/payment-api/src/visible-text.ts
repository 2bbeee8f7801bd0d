/** Texts that people write and read: without control characters and changes of direction. */

/** Of what people write: without what a reader does not see, or sees in another order or on another line. */
export const isVisibleText = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_C}]/u.test(text);
/** Makes external text visible: on one line, with a sign in place of invisible characters. */
export const toVisibleText = (text: string): string =>
  isPlain.test(text)
    ? text
    : text.replace(/[\t\r\n\p{Zl}\p{Zp}]+/gu, ' ').replace(/[\p{Cc}\p{Cs}\p{Bidi_C}]/gu, '\ufffd');

/** Most texts: the replacements cost ten times as much as this. */
const isPlain = /^[ -~]*$/;

/** {@link isVisibleText} for JSON Schema, whose readers do not all know classes by name; half of a character is no JSON anyway. */
export const visibleTextPattern = String.raw`^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$`;
export const mustBeVisible =
  'must be without control characters, line breaks and characters that change the direction of writing';
