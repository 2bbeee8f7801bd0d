/** Finds ambiguities in a request: a repeated header, and a query that is not UTF-8. */

/** Single-valued headers with an effect. Node takes the first line of some, and joins the lines of others. */
const singleValued = /^(authorization|content-type|host|idempotency-key|tollgate-.+)$/i;

/** Bare, or one quoted text: a proxy joins repeated lines by commas. */
const isOneValue = (value: string): boolean => /^(?:"[^"]*"|[^,]*)$/.test(value);

/** @returns the first header that must have one value and does not */
export function ambiguousHeaderIn(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return rawHeaders.find((name, place) => {
    if (place % 2 === 1 || !singleValued.test(name)) return false;
    const isRepeated = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    return isRepeated || !isOneValue(rawHeaders[place + 1] ?? '');
  });
}

/** True if a query or form is unambiguous: ASCII, with escapes in UTF-8. */
export function isExactQuery(text: string): boolean {
  try {
    decodeURIComponent(text);
  } catch {
    return false;
  }
  return !/[^\x20-\x7e]/.test(text);
}

/** The fields of a form. @throws Error with the status 400 unless it is percent-encoded UTF-8 */
export function parseForm(text: string): URLSearchParams {
  if (isExactQuery(text)) return new URLSearchParams(text);
  throw Object.assign(new Error('The form is not percent-encoded UTF-8.'), { statusCode: 400 });
}

/** @returns undefined unless all of it is UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
