/** The texts of the checkout in two languages, and their formats for amounts. */
import { minorUnitDigits } from '@tollgate/core/money';

const en = {
  testMode: 'Test mode: no real money moves',
  orderNumber: 'Reference',
  payByCard: 'Pay by card',
  number: 'Card number',
  expiry: 'Expiry date',
  cvv: 'Security code',
  holder: 'Name on card',
  expiryHint: 'MM/YY',
  cvvHint: '3 or 4 digits',
  numberFault: 'Enter the card number: 12 to 19 digits',
  numberMistypedFault: 'The card number has a typing error: please check its digits',
  expiryFault: 'Enter the expiry date as MM/YY',
  expiryPastFault: 'The card has expired: use another card',
  cvvFault: 'Enter the security code: 3 or 4 digits',
  holderFault: 'Enter the name as shown on the card',
  checkEntries: 'Please check your entries',
  errorPrefix: 'Error',
  pay: 'Pay {amount}',
  privacy: 'Your card details are sent encrypted and are not shared with the merchant.',
  authenticationTitle: 'Confirm your payment',
  authenticationText: 'Your bank asks whether it is really you who makes this payment.',
  confirm: 'Confirm payment',
  reject: 'Reject',
  approvedTitle: 'Payment successful',
  approvedText: 'Thank you. Your payment has been made.',
  heldTitle: 'Payment authorized',
  heldText: 'Thank you. The amount is held until the merchant confirms it.',
  declinedTitle: 'Payment declined',
  declinedText: 'The payment was not made, and you have not been charged. To use another card, order again.',
  refundedTitle: 'Payment refunded',
  refundedText: 'The amount has been returned to you.',
  expiredTitle: 'Payment expired',
  expiredText: 'The time for this payment is over, and you have not been charged. Please order again.',
  backToMerchant: 'Back to the merchant',
  notFoundTitle: 'Payment not found',
  notFoundText: 'There is no payment at this address. Please check the link.',
  unreadableTitle: 'Entries not readable',
  unreadableText: 'The form could not be read. Go back and try again.',
  failedTitle: 'Something went wrong',
  failedText: 'The fault is on our side. Please try again in a moment.',
};

/** All texts for the customer in one language; `{amount}` is the amount to be paid. */
export type Texts = Record<keyof typeof en, string>;

const de: Texts = {
  testMode: 'Testbetrieb: kein echtes Geld',
  orderNumber: 'Referenz',
  payByCard: 'Mit Karte bezahlen',
  number: 'Kartennummer',
  expiry: 'Gültig bis',
  cvv: 'Prüfnummer',
  holder: 'Name auf der Karte',
  expiryHint: 'MM/JJ',
  cvvHint: '3 oder 4 Ziffern',
  numberFault: 'Geben Sie die Kartennummer ein: 12 bis 19 Ziffern',
  numberMistypedFault: 'In der Kartennummer ist ein Tippfehler: Prüfen Sie die Ziffern',
  expiryFault: 'Geben Sie das Ablaufdatum als MM/JJ ein',
  expiryPastFault: 'Die Karte ist abgelaufen: Verwenden Sie eine andere Karte',
  cvvFault: 'Geben Sie die Prüfnummer ein: 3 oder 4 Ziffern',
  holderFault: 'Geben Sie den Namen ein, wie er auf der Karte steht',
  checkEntries: 'Bitte prüfen Sie Ihre Angaben',
  errorPrefix: 'Fehler',
  pay: '{amount} bezahlen',
  privacy: 'Ihre Kartendaten werden verschlüsselt übertragen und nicht an den Händler weitergegeben.',
  authenticationTitle: 'Zahlung bestätigen',
  authenticationText: 'Ihre Bank fragt, ob wirklich Sie diese Zahlung vornehmen.',
  confirm: 'Zahlung bestätigen',
  reject: 'Ablehnen',
  approvedTitle: 'Zahlung erfolgreich',
  approvedText: 'Vielen Dank. Ihre Zahlung ist ausgeführt.',
  heldTitle: 'Zahlung autorisiert',
  heldText: 'Vielen Dank. Der Betrag ist reserviert, bis der Händler ihn bestätigt.',
  declinedTitle: 'Zahlung abgelehnt',
  declinedText:
    'Die Zahlung wurde nicht ausgeführt, Ihre Karte nicht belastet. Für eine andere Karte bestellen Sie bitte erneut.',
  refundedTitle: 'Zahlung erstattet',
  refundedText: 'Der Betrag wurde Ihnen zurückgezahlt.',
  expiredTitle: 'Zahlung abgelaufen',
  expiredText:
    'Die Zeit für diese Zahlung ist vorbei, Ihre Karte wurde nicht belastet. Bitte bestellen Sie erneut.',
  backToMerchant: 'Zurück zum Händler',
  notFoundTitle: 'Zahlung nicht gefunden',
  notFoundText: 'Unter dieser Adresse gibt es keine Zahlung. Bitte prüfen Sie den Link.',
  unreadableTitle: 'Angaben nicht lesbar',
  unreadableText: 'Die gesendeten Angaben sind nicht lesbar. Gehen Sie zurück und versuchen Sie es erneut.',
  failedTitle: 'Etwas ist schiefgegangen',
  failedText: 'Der Fehler liegt bei uns. Bitte versuchen Sie es gleich noch einmal.',
};

const textsByLanguage: ReadonlyMap<string, Texts> = new Map(Object.entries({ en, de }));

/** A language with its texts, and the locale for amounts. */
export interface Localisation {
  language: string;
  locale: string;
  texts: Texts;
}

/** The localisation for a BCP 47 tag, by language; English if the language is not available. */
export function localise(tag: string): Localisation {
  const language = languageOf(tag);
  const texts = textsByLanguage.get(language);
  if (texts === undefined) return { language: 'en', locale: 'en', texts: en };
  return { language, locale: isWellFormed(tag) ? tag : language, texts };
}

const languageOf = (tag: string): string => tag.split('-')[0]?.toLowerCase() ?? '';

function isWellFormed(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/** An amount in minor units formatted for the locale, with the digits of ISO 4217 rather than those of `Intl`. */
export function showAmount(amount: number, currency: string, locale: string): string {
  const digits = minorUnitDigits(currency) ?? 0;
  const options = {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  } as const;
  // Passed as a string with an exponent: Intl formats it exactly, while a number would be rounded.
  return new Intl.NumberFormat(locale, options).format(`${amount}E-${digits}` as Intl.StringNumericLiteral);
}
