import { timingSafeEqual } from 'node:crypto';

/**
 * Whether somebody has given the very text that we expect. Takes the same time however wrong it is. Compared as bytes: texts of
 * as many characters may have different lengths.
 */
export function isSameText(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
