/** Card behavior in the sandbox; nothing else of a card number is kept after parsing. */
import { dayMs, maskCardNumber } from '@tollgate/service-kit';

export interface CardBehavior {
  outcome: 'approved' | 'declined';
  /** The customer must confirm on the authentication page first. */
  needsAuthentication: boolean;
  sanitizedMask: string;
}

const testCards: ReadonlyMap<string, Omit<CardBehavior, 'sanitizedMask'>> = new Map([
  ['4392963203551251', { outcome: 'approved', needsAuthentication: false }],
  ['4730198364688516', { outcome: 'declined', needsAuthentication: false }],
  ['4617611794313933', { outcome: 'approved', needsAuthentication: true }],
  ['4626233193837898', { outcome: 'declined', needsAuthentication: true }],
]);

/**
 * True for the 12 to 19 digits that a card number may have. All such numbers are accepted; only test cards are
 * approved.
 */
export const looksLikeCardNumber = (digits: string): boolean => /^\d{12,19}$/.test(digits);

/** The behavior of a card: the four test cards have their own, every other number is declined. */
export function cardBehavior(pan: string): CardBehavior {
  const behavior = testCards.get(pan) ?? { outcome: 'declined', needsAuthentication: false };
  return { ...behavior, sanitizedMask: maskCardNumber(pan) };
}

const payoutCards: ReadonlySet<string> = new Set(['4627342642639018']);

/** The outcome of a payout to a card: approved for one test card, declined for every other number. */
export const payoutBehavior = (pan: string): Pick<CardBehavior, 'outcome' | 'sanitizedMask'> => ({
  outcome: payoutCards.has(pan) ? 'approved' : 'declined',
  sanitizedMask: maskCardNumber(pan),
});

/**
 * True if a card that is valid until the end of a month, `MM/YYYY`, has expired at `now`, in milliseconds since the
 * Unix epoch. Allows one day of grace, because the month may not be over in the cardholder's time zone.
 */
export function isExpired(expires: string, now: number): boolean {
  const [month = 0, year = 0] = expires.split('/').map(Number);
  return Date.UTC(year, month, 1) + dayMs <= now;
}
