/** Which texts of callers may be kept where people read them: in records of requests, and in the security log. */
import { containsCardNumber } from '@tollgate/core';

/** Keys of teams and of the Payment Service, credentials of people, secrets of webhooks. */
const secretPattern = /(?<![a-z])((tg|sk)_[a-z]+_|tgo\.|whsec_)/i;

const holdsSecret = (text: string): boolean => secretPattern.test(text) || containsCardNumber(text);

/** What is shown to people must be no secret that was put there by mistake. */
export const mayBeKept = (text: string): boolean => /^[!-~]{1,128}$/.test(text) && !holdsSecret(text);

const lengthMax = 128;

/** The text, shortened; or stars, where it holds a secret or the number of a card. */
export const keptText = (text: string): string =>
  holdsSecret(text.slice(0, 2 * lengthMax)) ? '***' : text.slice(0, lengthMax);
