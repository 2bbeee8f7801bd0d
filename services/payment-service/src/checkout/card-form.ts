import { dayMs, isCardNumber } from '@tollgate/service-kit';
import { cardBehavior, looksLikeCardNumber, type CardBehavior } from '../cards.ts';

export const cardFields = ['number', 'expiry', 'cvv', 'holder'] as const;
export type CardField = (typeof cardFields)[number];

/** The fault of a field; the page's texts explain each. */
export type CardFault = 'number' | 'numberMistyped' | 'expiry' | 'expiryPast' | 'cvv' | 'holder';

/** Values shown again after a mistake. Never the card number or the CVV. */
export interface ShownAgain {
  expiry: string;
  holder: string;
}

export type CardFormResult =
  | { card: CardBehavior; faults?: never }
  | { faults: Partial<Record<CardField, CardFault>>; shown: ShownAgain; card?: never };

const holderLengthMax = 255;

/**
 * Parses the posted form. `now` is in milliseconds since the Unix epoch; a card is valid until the end of its month.
 *
 * The card number and the CVV are dropped here: only the card's behavior is passed on.
 */
export function readCardForm(form: URLSearchParams, now: number): CardFormResult {
  const number = field(form, 'number').replace(/[\s-]/g, '');
  const expiry = field(form, 'expiry').replace(/\s/g, '');
  const cvv = field(form, 'cvv');
  const holder = field(form, 'holder');
  const faults = withoutUndefined({
    number: numberFault(number),
    expiry: expiryFault(expiry, now),
    cvv: /^\d{3,4}$/.test(cvv) ? undefined : 'cvv',
    holder: isHolder(holder) ? undefined : 'holder',
  } as const);
  if (Object.keys(faults).length === 0) return { card: cardBehavior(number) };
  // A card number typed into the wrong field must not be returned either.
  const shown = {
    expiry: parseExpiry(expiry) === undefined ? '' : expiry,
    holder: faults.holder === undefined ? holder : '',
  };
  return { faults, shown };
}

// Input methods of East Asian scripts write full-width digits.
const field = (form: URLSearchParams, name: CardField): string =>
  (form.get(name) ?? '').normalize('NFKC').trim();

function numberFault(number: string): CardFault | undefined {
  if (!looksLikeCardNumber(number)) return 'number';
  // A typing error must not decline a payment permanently.
  return isCardNumber(number) ? undefined : 'numberMistyped';
}

const isHolder = (holder: string): boolean =>
  holder !== '' && holder.length <= holderLengthMax && !/\d/.test(holder);

function expiryFault(expiry: string, now: number): CardFault | undefined {
  const parsed = parseExpiry(expiry);
  if (parsed === undefined) return 'expiry';
  // One day of grace: the month may not be over in the customer's time zone.
  const today = new Date(now - dayMs);
  const monthsLeft = (parsed.year - today.getUTCFullYear()) * 12 + parsed.month - (today.getUTCMonth() + 1);
  return monthsLeft < 0 ? 'expiryPast' : undefined;
}

function parseExpiry(text: string): { month: number; year: number } | undefined {
  const match =
    /^(0?[1-9]|1[0-2])[/.-](\d{4}|\d{2})$/.exec(text) ?? /^(0[1-9]|1[0-2])(\d{4}|\d{2})$/.exec(text);
  if (match === null) return undefined;
  const [, month = '', year = ''] = match;
  return { month: Number(month), year: year.length === 2 ? 2000 + Number(year) : Number(year) };
}

const withoutUndefined = (
  faults: Record<CardField, CardFault | undefined>,
): Partial<Record<CardField, CardFault>> =>
  Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined));
