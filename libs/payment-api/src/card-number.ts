/** Card numbers where none belongs: found whatever separates their digits, and masked. */

/** True for 12 to 19 digits whose Luhn check digit is right (ISO/IEC 7812-1). */
export function isCardNumber(digits: string): boolean {
  if (!/^\d{12,19}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/**
 * What issuers begin their numbers with, and how long these are. Every tenth number passes Luhn's check: without this, so would
 * every tenth time in milliseconds, date with a serial, and IMEI that merchants use as an order number.
 */
const issuedForms = [
  /^4(?:\d{12}|\d{15}|\d{18})$/, // Visa
  /^(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^3(?:0[0-5]|095|[689])\d{10,}$/, // Diners Club
  /^35(?:2[89]|[3-8]\d)\d{12,}$/, // JCB
  /^220[0-4]\d{12,}$/, // Mir
  /^(?:5[0678]|6\d)\d{10,}$/, // Maestro, Discover, UnionPay, RuPay, Troy
  /^(?:8[12]|9792)\d{12,}$/, // UnionPay, RuPay, Troy
];

const isIssued = (digits: string): boolean =>
  isCardNumber(digits) && issuedForms.some((form) => form.test(digits));

/**
 * True where a text holds the number of a card: 12 to 19 digits as an issuer gives them out, of any script, after zeros or
 * none, with up to three spaces, punctuation marks, symbols or invisible characters between two of them, percent-encoded
 * or not. Whole UUIDs and ids of 32, 40 and 64 hexadecimal digits hold none; of
 * 32 only with three different letters, which what is filled up to that length does not have.
 */
export const containsCardNumber = (text: string): boolean =>
  firstIn(text) !== undefined || firstIn(percentDecoded(text)) !== undefined;

/** True where a text is the number of a card and nothing else, however it is written. */
export const isOnlyCardNumber = (text: string): boolean => {
  const chars = Array.from(text);
  const digits = chars.map(digitsOf).join('').replace(/^0+/, '');
  return isIssued(digits) && chars.every((char) => digitsOf(char) !== '' || separator.test(char));
};

/** A card number as it may be shown: never more digits than are hidden, but for the usual first six and last four. */
export function maskCardNumber(digits: string): string {
  const isLong = digits.length >= firstSixFrom;
  const first = isLong ? digits.slice(0, 6) : '';
  return `${first}${'*'.repeat(Math.max(0, digits.length - first.length - 4))}${digits.slice(-4)}`;
}

/** Of shorter numbers, six and four digits would leave next to nothing to guess. */
const firstSixFrom = 15;

/** The text with every card number in it masked; the rest stays as it is. */
export function maskCardNumbers(text: string): string {
  // Ids are those of the text as it came: what masking leaves of a text is none.
  const parts: string[] = [];
  let from = 0;
  for (const { 0: id, index } of text.matchAll(ids)) {
    parts.push(maskOutsideOfIds(text.slice(from, index)), id);
    from = index + id.length;
  }
  const masked = [...parts, maskOutsideOfIds(text.slice(from))].join('');
  return containsCardNumber(masked) ? maskCardNumbers(percentDecoded(masked)) : masked;
}

function maskOutsideOfIds(text: string): string {
  let masked = text;
  // Each round hides digits, so that there is a last one.
  for (;;) {
    const found = firstOutsideOfIds(masked);
    if (found === undefined) return masked;
    masked = `${masked.slice(0, found.from)}${maskCardNumber(found.digits)}${masked.slice(found.to)}`;
  }
}

interface Found {
  digits: string;
  /** Where it begins and ends in the text. */
  from: number;
  to: number;
}

/** Digits with nothing between them. */
type Group = Found;

const separatorsMax = 3;
const separator = /^[\p{Z}\p{P}\p{S}\p{C}\p{M}]$/u;

/** UUIDs, ids of 32 hexadecimal digits with three different letters, and hashes of 40 and 64. */
const ids =
  /(?<![\da-z])(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{12}[1-8][\da-f]{3}[89ab][\da-f]{15}|(?=[\da-f]*([a-f])[\da-f]*(?!\1)([a-f])[\da-f]*(?!\1|\2)[a-f])[\da-f]{32}|[\da-f]{40}|[\da-f]{64})(?![\da-z])/gi;

/** Shorter texts hold no number, and most are shorter. */
const lengthMin = 12;

const firstIn = (text: string): Found | undefined =>
  text.length < lengthMin ? undefined : firstOutsideOfIds(text.replace(ids, (id) => 'x'.repeat(id.length)));

function firstOutsideOfIds(text: string): Found | undefined {
  if (text.length < lengthMin) return undefined;
  for (const chain of chainsIn(text))
    for (let start = 0; start < chain.length; start += 1) {
      const found = numberFrom(chain, start);
      if (found !== undefined) return found;
    }
  return undefined;
}

/** The number that begins with a group: digits before and behind it may be anything else. */
function numberFrom(chain: readonly Group[], start: number): Found | undefined {
  let digits = '';
  for (const group of chain.slice(start, start + 20)) {
    digits += group.digits;
    const stripped = digits.replace(/^0+/, '');
    // Zeros alone begin nothing that the next group would not begin.
    if (stripped === '' || stripped.length > 19) return undefined;
    if (isIssued(stripped)) return { digits: stripped, from: chain[start]?.from ?? 0, to: group.to };
  }
  return undefined;
}

/** Groups of digits that hardly anything parts. */
function* chainsIn(text: string): Generator<Group[]> {
  let chain: Group[] = [];
  let at = 0;
  for (const char of text) {
    const from = at;
    at += char.length;
    const last = chain.at(-1);
    const digits = digitsOf(char);
    const gap = last === undefined ? 0 : Array.from(text.slice(last.to, from)).length;
    if (digits !== '') {
      if (last !== undefined && gap === 0)
        chain[chain.length - 1] = { ...last, digits: last.digits + digits, to: at };
      else chain.push({ digits, from, to: at });
    } else if (last !== undefined && (gap >= separatorsMax || !separator.test(char))) {
      yield chain;
      chain = [];
    }
  }
  if (chain.length > 0) yield chain;
}

/** What a character says in decimal digits, of whatever script or form; empty for what is none. */
function digitsOf(char: string): string {
  if (char <= '\u007f') return char >= '0' && char <= '9' ? char : '';
  const plain = char.normalize('NFKC');
  if (/^[\d\p{P}\p{S}]*\d[\d\p{P}\p{S}]*$/u.test(plain)) return plain.replace(/\D/g, '');
  if (!/^\p{Nd}$/u.test(plain)) return '';
  // The ten digits of a script stand one after the other.
  const code = plain.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

const percentDecoded = (text: string): string =>
  text.includes('%') ? text.replace(/(?:%[\da-f]{2})+/gi, decoded) : text;

function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}
