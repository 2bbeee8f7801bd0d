import { timingSafeEqual } from 'node:crypto';

/** Compares an expected text with a given one in constant time. As bytes: texts of equal length may have different sizes. */
export function isSameText(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
