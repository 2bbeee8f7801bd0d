/** Values shared by tests. */

export const approvedCard = '4392963203551251';
export const declinedCard = '4730198364688516';
export const authenticatedCard = '4617611794313933';
export const authenticatedDeclinedCard = '4626233193837898';
export const testCards = [approvedCard, declinedCard, authenticatedCard, authenticatedDeclinedCard] as const;

export const payoutCard = '4627342642639018';

export const dayMs = 24 * 60 * 60_000;

/** Card data of a server-to-server payment. */
export const cardData = (pan: string) => ({ pan, expires: '12/2099', holder: 'Ada Lovelace', cvv: '987' });
export const bankAccount = { bankName: 'Example Bank', account: 'DE89370400440532013000' };

export const bankAccountDestination = { outcome: 'approved' as const };

/** A creation that is accepted; nothing listens at its callback address. */
export const tea = {
  product: 'Tea',
  amount: 1250,
  currency: 'EUR',
  callbackUrl: 'http://127.0.0.1:9/callbacks',
};

/** The card form with valid values. */
export const goodForm = (number: string) => ({ number, expiry: '12/99', cvv: '987', holder: 'Ada Lovelace' });
