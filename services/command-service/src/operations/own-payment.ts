import type { Caller, PaymentDocument } from '@tollgate/read-models';
import type { Payments } from '../streams/payments.ts';

/** Of what a token may be made: anything else is nobody's token, and never becomes part of a stream's name. */
const tokenPattern = /^[A-Za-z0-9_-]{1,128}$/;

export const isToken = (text: string): boolean => tokenPattern.test(text);

export const isOwnedBy = (owned: { team: string; environment: string }, caller: Caller): boolean =>
  owned.team === caller.team && owned.environment === caller.environment;

/** A caller's payment; undefined for one of another team or environment, as for one that does not exist. */
export async function findOwn(
  payments: Pick<Payments, 'load'>,
  caller: Caller,
  token: string,
): Promise<PaymentDocument | undefined> {
  const document = isToken(token) ? await payments.load(token) : undefined;
  return document !== undefined && isOwnedBy(document.payment, caller) ? document : undefined;
}
