/** I13: card credentials and customer data appear in nothing that is recorded, published, returned, sent to teams or logged. */
import type { Complain } from './books.ts';
import type { EventLog } from '../world/event-log.ts';

export const cardNumber = '4111111111111111';
export const bankAccount = 'DE02120300000000202051';
/** Prefix of the service's recurring tokens. */
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
