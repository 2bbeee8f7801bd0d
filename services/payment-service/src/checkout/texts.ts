import { minorUnitDigits } from '@tollgate/payment-api';
import { de } from './texts.de.ts';
import { en } from './texts.en.ts';
import { es } from './texts.es.ts';
import { fr } from './texts.fr.ts';
import { ja } from './texts.ja.ts';
import { zh } from './texts.zh.ts';
import type { CardFault, CardField } from './card-form.ts';

interface Notice {
  title: string;
  text: string;
}

/** How a payment can stand when the customer has nothing left to do. */
export type Outcome = 'approved' | 'held' | 'declined' | 'refunded' | 'expired';

/** Why there is no page to show. */
export type Trouble = 'notFound' | 'unreadable' | 'failed';

/** All that a customer reads, in one language. */
export interface Texts {
  testMode: string;
  merchant: string;
  orderNumber: string;
  payByCard: string;
  fields: Record<CardField, string>;
  hints: { expiry: string; cvv: string };
  faults: Record<CardFault, string>;
  checkEntries: string;
  errorPrefix: string;
  pay: (amount: string) => string;
  privacy: string;
  authentication: Notice & { confirm: string; reject: string };
  outcomes: Record<Outcome, Notice>;
  backToMerchant: string;
  troubles: Record<Trouble, Notice>;
}

const textsByLanguage: ReadonlyMap<string, Texts> = new Map(Object.entries({ en, de, fr, es, zh, ja }));

/** The language, its texts, and the locale in which amounts are written. */
export interface Localisation {
  language: string;
  locale: string;
  texts: Texts;
}

/** The localisation for a BCP 47 tag: by its language, English where there is none for it. */
export function localise(tag: string): Localisation {
  const language = languageOf(tag);
  const texts = textsByLanguage.get(language);
  if (texts === undefined) return { language: 'en', locale: 'en', texts: en };
  return { language, locale: isWellFormed(tag) ? tag : language, texts };
}

/** What of an `Accept-Language` header there are texts for; undefined where there are none. */
export function preferredLocale(header = ''): string | undefined {
  const wanted = header.split(',').map((part) => {
    const [tag = '', quality = 'q=1'] = part.split(';').map((piece) => piece.trim());
    return { tag, quality: Number(quality.replace(/^q=/, '')) };
  });
  const known = wanted.filter(({ tag, quality }) => quality > 0 && textsByLanguage.has(languageOf(tag)));
  return known.toSorted((one, other) => other.quality - one.quality)[0]?.tag;
}

const languageOf = (tag: string): string => tag.split('-')[0]?.toLowerCase() ?? '';

function isWellFormed(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/** An amount in minor units as the locale writes it, with the digits of ISO 4217 and not those of `Intl`. */
export function showAmount(amount: number, currency: string, locale: string): string {
  const digits = minorUnitDigits(currency) ?? 0;
  const options = {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  } as const;
  // As text with an exponent, which Intl takes exactly where a number would be rounded.
  return new Intl.NumberFormat(locale, options).format(`${amount}E-${digits}` as Intl.StringNumericLiteral);
}
