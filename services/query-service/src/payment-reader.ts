import type { EventStore } from '@tollgate/event-store';
import { paymentStream } from '@tollgate/payment-domain';
import {
  foldPaymentDocument,
  type Caller,
  type PaymentDocument,
  type PaymentIndex,
} from '@tollgate/read-models';

/** Of what a token may be made: anything else is nobody's token, and never becomes part of a stream's name. */
const tokenPattern = /^[A-Za-z0-9_-]{1,128}$/;

export const isToken = (text: string): boolean => tokenPattern.test(text);

export const isOwnedBy = (payment: { team: string; environment: string }, caller: Caller): boolean =>
  payment.team === caller.team && payment.environment === caller.environment;

/** Gives the function that finds a caller's payment: in the index, or in its events where it is too new for that. */
export function createPaymentReader({ store, index }: { store: EventStore; index: PaymentIndex }) {
  return async (caller: Caller, token: string): Promise<PaymentDocument | undefined> => {
    if (!isToken(token)) return undefined;
    const document = index.get(caller.environment, caller.team, token) ?? (await foldStream(store, token));
    return document !== undefined && isOwnedBy(document.payment, caller) ? document : undefined;
  };
}

async function foldStream(store: EventStore, token: string): Promise<PaymentDocument | undefined> {
  let document: PaymentDocument | undefined;
  for await (const event of store.read(paymentStream(token))) document = foldPaymentDocument(document, event);
  return document;
}
