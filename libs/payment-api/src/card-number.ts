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
 * True where a text holds a card number of 13 to 19 digits, in one piece or in the groups that are printed on cards
 * (`4392 9632 0355 1251`, `3782-822463-10005`).
 *
 * Every tenth number passes Luhn's check, so texts that merchants use as order numbers are excluded: longer runs of
 * digits, hexadecimal identifiers of 20 and more (UUIDs, object ids, hashes), dates and times (no issuer begins
 * with 0, 1, 20 or 7), and digits in other groups.
 */
export function containsCardNumber(text: string): boolean {
  const plain = text.normalize('NFKC').replace(longIdentifiers, ' ');
  return [...(plain.match(runs) ?? []), ...groupsIn(plain)].some((candidate) =>
    isIssued(candidate.replace(/\D/g, '')),
  );
}

const longIdentifiers = /(?<![\da-z])(?:[\da-f]{20,}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?![\da-z])/gi;

const runs = /(?<!\d)\d{13,19}(?!\d)/g;

/**
 * Four groups of four digits and perhaps a short one, or 4-6-5 (American Express), or 4-6-4 (Diners Club). Looked for
 * at each place, because digits before the number may look like its beginning.
 */
const fours = /(?<!\d)(?=(\d{4}(?:[\s._/-]\d{4}){3})([\s._/-]\d{1,3})?(?!\d))/g;
const fourSix = /(?<!\d)(?=(\d{4}[\s._/-]\d{6}[\s._/-]\d{4,5})(?!\d))/g;

/** What follows four groups of four may belong to the number, or be an expiry or a CVV: both readings count. */
const groupsIn = (text: string): string[] =>
  [...text.matchAll(fours), ...text.matchAll(fourSix)].flatMap(([, groups = '', rest = '']) => [
    groups,
    groups + rest,
  ]);

const isIssued = (digits: string): boolean => /^(?:[345689]|2[2-7])/.test(digits) && isCardNumber(digits);
