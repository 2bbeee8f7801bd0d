/** Keeps secrets of a request out of its outcome. */
import { toVisibleText, type CreatePaymentRequest, type PayoutRequest } from '@tollgate/payment-api';
import { containsCardNumber } from '@tollgate/service-kit';

/** The secrets of a creation. The holder's name and the expiry are too common as texts to search for. */
export const secretsOfCreation = ({ card, recurringToken }: CreatePaymentRequest): string[] =>
  given(card?.pan, card?.cvv, recurringToken);

/** The secrets of a payout. An account number is not secret, but it is personal data that no answer needs. */
export const secretsOfPayout = ({ destination }: PayoutRequest): string[] =>
  given(destination.card?.pan, destination.recurringToken, destination.bankAccount?.account);

/** Without empty texts, which are part of every text. */
const given = (...texts: (string | undefined)[]): string[] =>
  texts.filter((text) => text !== undefined && text !== '') as string[];

/** Successful answers are not searched for secrets shorter than this: a CVV's digits are part of many a token. */
const secretLengthMin = 12;

const removed = '[removed]';

/** True for a token that must not be kept: it repeated a secret of the request, or contains a card number. */
export const isSecretToken = (token: string): boolean => isRemoved(token) || containsCardNumber(token);

/** True for the replacement of a text that repeated a secret. It identifies nothing. */
export const isRemoved = (text: string): boolean => text === removed;

/** True if a text contains one of the secrets; a long one also in groups, as card and account numbers are printed. */
export const repeatsSecret = (text: string, secrets: readonly string[]): boolean => searchFor(secrets)(text);

function searchFor(secrets: readonly string[]): (text: string) => boolean {
  const inGroups = secrets.map(withoutSeparators).filter((plain) => plain.length >= secretLengthMin);
  return (text) => {
    if (secrets.some((secret) => text.includes(secret))) return true;
    const inOnePiece = inGroups.length > 0 ? withoutSeparators(text) : '';
    return inGroups.some((plain) => inOnePiece.includes(plain));
  };
}

const withoutSeparators = (text: string): string => text.replace(/[\s._/-]/g, '');

/**
 * A reviver for `JSON.parse` that drops secrets and the nulls of empty fields, and makes texts visible: people read them in the
 * console, a terminal and CSV files. A
 * token stays unchanged, because another text is another token.
 */
export function withoutSecrets(secrets: readonly string[]) {
  const long = secrets.filter((secret) => secret.length >= secretLengthMin);
  // A shorter text holds none of them, and most names and values are shorter.
  const isRepeated = searchFor(long);
  const isSecret = (text: string) => text.length >= secretLengthMin && isRepeated(text);
  return function (this: unknown, key: string, value: unknown): unknown {
    if (key === '__proto__' || isSecret(key)) return undefined;
    if (value === null) return Array.isArray(this) ? null : undefined;
    if (typeof value !== 'string' && typeof value !== 'number') return value;
    if (isSecret(String(value))) return removed;
    return typeof value === 'number' || /token$/i.test(key) ? value : toVisibleText(value);
  };
}
