/** Finds and masks card numbers in free text, with any separators. */

/** True for 12 to 19 digits with a valid Luhn check digit (ISO/IEC 7812-1). */
export const isCardNumber = (digits: string): boolean =>
  /^\d{12,19}$/.test(digits) && numberFrom(digits, 0, (end) => end === digits.length) !== undefined;

/**
 * Prefixes and lengths of issuers. A tenth of all numbers have a valid check digit; without this table, that includes times in
 * milliseconds, dates with a serial number, and IMEIs used as order numbers.
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
 * True if a text contains a card number: 12 to 19 digits in an issuer's format, in any script, after optional zeros, with any
 * separators, percent-encoded or not. Inside a longer run of digits, as in records of fixed width, a number counts if an
 * expiry date or zeros follow. Whole UUIDs and hashes contain none. Linear time.
 */
export const containsCardNumber = (text: string): boolean =>
  findNumber(plainOf(text)) !== undefined ||
  (text.includes('%') && findNumber(plainOf(percentDecoded(text))) !== undefined);

/** True if a text is a card number and nothing else. */
export function isOnlyCardNumber(text: string): boolean {
  const digits = plainOf(text).text.replace(/^0+/, '');
  return isCardNumber(digits) && isIssued(digits);
}

/** A card number for display: the first six and last four digits at most, and never more than are hidden. */
export function maskCardNumber(digits: string): string {
  const isLong = digits.length >= firstSixFrom;
  const first = isLong ? digits.slice(0, 6) : '';
  return `${first}${'*'.repeat(Math.max(0, digits.length - first.length - 4))}${digits.slice(-4)}`;
}

/** Of a shorter number, six and four digits would leave almost nothing to guess. */
const firstSixFrom = 15;

export function maskCardNumbers(text: string): string {
  let masked = text;
  // The digits of a mask can be part of another number.
  for (let round = 0; round < maskRoundsMax; round += 1) {
    if (!containsCardNumber(masked)) return masked;
    const once = maskedOnce(masked);
    masked = once === masked ? maskedOnce(percentDecoded(masked)) : once;
  }
  return containsCardNumber(masked) ? '[card number]' : masked;
}

const maskRoundsMax = 5;

/**
 * The first characters of a text, without card numbers. The text is cut before the search, because its sender chooses its
 * length; the cut leaves room for a number that it would split.
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

/** A text without separators. Every other character that is not a digit is an `x`, as are those of ids. */
interface Plain {
  text: string;
  /** Start and end of each character in the original. */
  from: number[];
  to: number[];
  /** True for a digit that directly follows another. */
  isJoined: boolean[];
}

/** The first card number at or after an index. */
function findNumber(plain: Plain, first = 0): { start: number; end: number } | undefined {
  const { text, isJoined } = plain;
  let isBeginning = true;
  for (let start = first; start < text.length; start += 1) {
    isBeginning ||= isJoined[start] !== true;
    // Leading zeros are not part of a number.
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

/** End of the digits from `start` with a valid check digit that `isNumber` accepts. */
function numberFrom(text: string, start: number, isNumber: (end: number) => boolean): number | undefined {
  let luhn = 0;
  let swapped = 0;
  const endMax = Math.min(text.length, start + 19);
  for (let at = start; at < endMax; at += 1) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) return undefined;
    // Luhn doubles every second digit from the right, so the parity changes with each further digit.
    const sum = swapped + digit;
    swapped = luhn + (digit > 4 ? digit * 2 - 9 : digit * 2);
    luhn = sum;
    if (at - start >= 11 && luhn % 10 === 0 && isNumber(at + 1)) return at + 1;
  }
  return undefined;
}

const zero = '0'.charCodeAt(0);

/** In a longer run of digits: a number of a common length, followed by an expiry date (MMYY, YYMM) or zeros. */
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
    // The digits around the stars of a mask belong to one number, but not all of it.
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

/** Any mask has at least as many stars. */
const maskMin = 4;

const isDigit = (char: string): boolean => char >= '0' && char <= '9';

function plainOfChar(char: string): string {
  if (isDigit(char)) return char;
  if (char < '\u0080') return /[a-z]/i.test(char) ? other : separator;
  if (/\p{N}/u.test(char)) return digitOf(char);
  return /[\p{Z}\p{P}\p{S}\p{C}\p{M}]/u.test(char) ? separator : other;
}

const knownDigits = new Map<string, string>();

/** The decimal digit of a character, in any script or form (`٤`, `④`, `⒋`). */
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

/** UUIDs and hashes. A padded number has fewer different characters. */
function isId(text: string): boolean {
  const letters = new Set(text.toLowerCase().replace(/[\d-]/g, '')).size;
  return letters >= 3 || (letters > 0 && uuid.test(text.replaceAll('-', '')));
}

/** Several layers (`%2520`). Bytes that are not UTF-8 count as separators. */
const percentDecoded = (text: string): string =>
  text.replace(/%(?:25)+/g, '%').replace(/(?:%[\da-f]{2})+/gi, (escapes) => {
    const bytes = escapes.split('%').slice(1);
    return new TextDecoder().decode(Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)));
  });
