/** Finds and masks card numbers in free text, whatever separates their digits. */

/** True for 12 to 19 digits with a valid Luhn check digit (ISO/IEC 7812-1). */
export const isCardNumber = (digits: string): boolean =>
  /^\d{12,19}$/.test(digits) && numberFrom(digits, 0, (end) => end === digits.length) !== undefined;

/**
 * Prefixes and lengths of issuers. Every tenth number has a valid check digit: without this table, so would every tenth time in
 * milliseconds, date with a serial number, and IMEI that merchants use as an order number.
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

const isIssued = (digits: string): boolean => issuedForms.some((form) => form.test(digits));

/**
 * True if a text contains the number of a card: 12 to 19 digits as an issuer gives them out, of any script, after zeros or none,
 * with any separators between them, percent-encoded or not. Inside a longer run of digits, as in records of fixed width, a
 * number counts if an expiry date or zeros follow. Whole UUIDs and hashes contain none. The time is linear in the length.
 */
export const containsCardNumber = (text: string): boolean =>
  findNumber(plainOf(text)) !== undefined ||
  (text.includes('%') && findNumber(plainOf(percentDecoded(text))) !== undefined);

/** True if a text is the number of a card and nothing else, however it is written. */
export function isOnlyCardNumber(text: string): boolean {
  const digits = plainOf(text).text.replace(/^0+/, '');
  return isCardNumber(digits) && isIssued(digits);
}

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
  let masked = text;
  // A mask shows digits that can be part of another number.
  for (let round = 0; round < maskRoundsMax; round += 1) {
    if (!containsCardNumber(masked)) return masked;
    const once = maskedOnce(masked);
    masked = once === masked ? maskedOnce(percentDecoded(masked)) : once;
  }
  return containsCardNumber(masked) ? '[card number]' : masked;
}

const maskRoundsMax = 5;

/**
 * The first characters of a text, without card numbers. The text is cut before it is searched, because its sender chooses its
 * length, and leaves room for a number that the end cuts in two.
 */
export const maskedText = (text: string, lengthMax: number): string =>
  maskCardNumbers(maskCardNumbers(text.slice(0, 2 * lengthMax)).slice(0, lengthMax));

function maskedOnce(text: string): string {
  const plain = plainOf(text);
  let masked = '';
  let at = 0;
  for (let found = findNumber(plain); found !== undefined; found = findNumber(plain, found.end)) {
    masked +=
      text.slice(at, plain.from[found.start]) + maskCardNumber(plain.text.slice(found.start, found.end));
    at = plain.to[found.end - 1] ?? text.length;
  }
  return masked + text.slice(at);
}

/** A text without the separators. Every character that is neither separator nor digit is an `x`, as are those of ids. */
interface Plain {
  text: string;
  /** Where in the original each character begins and ends. */
  from: number[];
  to: number[];
  /** True for a digit that directly follows another. */
  isJoined: boolean[];
}

/** The first card number from an index on. */
function findNumber(plain: Plain, first = 0): { start: number; end: number } | undefined {
  const { text, isJoined } = plain;
  let isBeginning = true;
  for (let start = first; start < text.length; start += 1) {
    isBeginning ||= isJoined[start] !== true;
    // Zeros before a number are not part of it.
    if (!isDigit(text.charAt(start)) || text.charAt(start) === '0') continue;
    const isWhole = isBeginning;
    const end = numberFrom(text, start, (at) => {
      const isFound = (isWhole && isJoined[at] !== true) || isInRecord(plain, start, at);
      return isFound && isIssued(text.slice(start, at));
    });
    if (end !== undefined) return { start, end };
    isBeginning = false;
  }
  return undefined;
}

/** The end of the digits from `start` on whose check digit is valid and that `isNumber` accepts. */
function numberFrom(text: string, start: number, isNumber: (end: number) => boolean): number | undefined {
  let luhn = 0;
  let swapped = 0;
  const endMax = Math.min(text.length, start + 19);
  for (let at = start; at < endMax; at += 1) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) return undefined;
    // Every second digit from the right is doubled: with one more digit, it is the others.
    const sum = swapped + digit;
    swapped = luhn + (digit > 4 ? digit * 2 - 9 : digit * 2);
    luhn = sum;
    if (at - start >= 11 && luhn % 10 === 0 && isNumber(at + 1)) return at + 1;
  }
  return undefined;
}

const zero = '0'.charCodeAt(0);

/** In a run of digits: a number of today's usual lengths, and after it an expiry date (MMYY, YYMM) or zeros. */
function isInRecord({ text, isJoined }: Plain, start: number, end: number): boolean {
  const rest = text.slice(end, end + 4);
  return (
    /^(?:(?:0[1-9]|1[0-2])[2-4]\d|[2-4]\d(?:0[1-9]|1[0-2])|000)/.test(rest) &&
    /^(?:3[47]\d{13}|\d{16}|62\d{17})$/.test(text.slice(start, end)) &&
    isJoined.slice(start + 1, end + 3).every(Boolean)
  );
}

function plainOf(original: string): Plain {
  const chars: string[] = [];
  const plain: Plain = { text: '', from: [], to: [], isJoined: [] };
  let at = 0;
  let stars = 0;
  for (const char of original.replace(hexadecimal, (id) => (isId(id) ? other.repeat(id.length) : id))) {
    stars = char === '*' ? stars + 1 : 0;
    // The digits before and after the stars of a mask are of one number, but not all of it.
    const each = stars === maskMin ? other : plainOfChar(char);
    if (each !== separator) {
      plain.isJoined.push(each !== other && plain.to.at(-1) === at);
      plain.from.push(at);
      plain.to.push(at + char.length);
      chars.push(each);
    }
    at += char.length;
  }
  plain.text = chars.join('');
  return plain;
}

const separator = '';
const other = 'x';

/** A mask has at least as many stars. */
const maskMin = 4;

const isDigit = (char: string): boolean => char >= '0' && char <= '9';

function plainOfChar(char: string): string {
  if (isDigit(char)) return char;
  if (char < '\u0080') return /[a-z]/i.test(char) ? other : separator;
  if (/\p{N}/u.test(char)) return digitOf(char);
  return /[\p{Z}\p{P}\p{S}\p{C}\p{M}]/u.test(char) ? separator : other;
}

const knownDigits = new Map<string, string>();

/** The decimal digit that a character stands for, of whatever script or form (`٤`, `④`, `⒋`). */
function digitOf(char: string): string {
  const known = knownDigits.get(char);
  if (known !== undefined) return known;
  const [, form] = /^[\p{P}\p{S}]*(\p{Nd})[\p{P}\p{S}]*$/u.exec(char.normalize('NFKC')) ?? [];
  const digit = form === undefined ? other : valueOf(form);
  knownDigits.set(char, digit);
  return digit;
}

/** The ten digits of a script have consecutive code points. */
function valueOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zeroCode = code;
  while (code - zeroCode < 9 && /\p{Nd}/u.test(String.fromCodePoint(zeroCode - 1))) zeroCode -= 1;
  return String(code - zeroCode);
}

const hexadecimal =
  /(?<![\da-z])(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{32}|[\da-f]{40}|[\da-f]{64})(?![\da-z])/gi;
const uuid = /^[\da-f]{12}[1-8][\da-f]{3}[89ab][\da-f]{15}$/i;

/** UUIDs and hashes. What was filled up to their length has fewer different letters. */
function isId(text: string): boolean {
  const letters = new Set(text.toLowerCase().replace(/[\d-]/g, '')).size;
  return letters >= 3 || (letters > 0 && uuid.test(text.replaceAll('-', '')));
}

/** Through several layers (`%2520`). Bytes that are not UTF-8 are separators. */
const percentDecoded = (text: string): string =>
  text.replace(/%(?:25)+/g, '%').replace(/(?:%[\da-f]{2})+/gi, (escapes) => {
    const bytes = escapes.split('%').slice(1);
    return new TextDecoder().decode(Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)));
  });
