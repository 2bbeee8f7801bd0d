import { containsCardNumber } from '@tollgate/service-kit';
/** The caller's texts that may be stored where people read them: in records of requests, and in the security log. */

/** Keys of teams and of the Payment Service, credentials of people, secrets of webhooks. */
const secretPattern = /(?<![a-z])((tg|sk)_[a-z]+_|tgo\.|whsec_)/i;

const holdsSecret = (text: string): boolean => secretPattern.test(text) || containsCardNumber(text);

/** People must not see a secret that was put there by mistake. */
export const mayBeKept = (text: string): boolean => /^[!-~]{1,128}$/.test(text) && !holdsSecret(text);

const lengthMax = 128;

/** The text, shortened; or stars, if it contains a secret or a card number. */
export const keptText = (text: string): string =>
  holdsSecret(text.slice(0, 2 * lengthMax)) ? '***' : text.slice(0, lengthMax);

export const holdsNoCardNumber = (text: string): boolean => !containsCardNumber(text);
export const mustHoldNoCardNumber = 'must not contain a card number';
