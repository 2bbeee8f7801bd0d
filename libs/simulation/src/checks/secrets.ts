/** I13: what charges a card, and who a customer is, is in nothing that is recorded, published, answered, sent to teams or logged. */
import type { Complain, OperationOnRecord } from './books.ts';
import { isAwaited, isFinal } from './books.ts';
import type { EventLog } from '../world/event-log.ts';

export const cardNumber = '4111111111111111';
export const bankAccount = 'DE02120300000000202051';
/** What recurring tokens of the service begin with. */
export const recurringTokenMark = 'service-secret-';
const customersHost = 'customer.sim';

/** The customer of every second order gives an address. */
export function emailOf(orderNumber: string): string | undefined {
  const number = /^order-(\d+)$/.exec(orderNumber)?.[1];
  return number !== undefined && Number(number) % 2 === 0 ? `${orderNumber}@${customersHost}` : undefined;
}

const secret = new RegExp([cardNumber, bankAccount, recurringTokenMark, customersHost].join('|'));

export function requireNoSecret(where: string, text: string, complain: Complain): void {
  const [found] = secret.exec(text) ?? [];
  if (found !== undefined) complain('I13', `${where} holds ${found}`);
}

export const requireNoSecretIn = (log: EventLog, complain: Complain): void => {
  for (const { stream, type, data, metadata } of log.all())
    requireNoSecret(`${type} of ${stream}`, JSON.stringify([data, metadata]), complain);
};

/**
 * What is kept of a customer is needed for a further attempt only. Where it could not be removed at once, that is made up for when the payment
 * is final, and what is in review may not be for long (seed 1671).
 */
export const keptForNothing = (log: EventLog, operations: readonly OperationOnRecord[]): string[] =>
  operations.flatMap((operation) =>
    isAwaited(operation) ||
    (!isFinal(operation) && operation.reviews.size > 0) ||
    log.read(`customer-${operation.token}`).length === 0
      ? []
      : [`the customer of ${operation.token} (${operation.phase}) is kept, and nobody needs it`],
  );
