import { type Caller, isOwnedBy, isToken } from '@tollgate/teams';
import { type PaymentView } from '@tollgate/views';
import type { Payments } from '../streams/payments.ts';

/** A caller's payment; undefined for one of another team or environment, as for one that does not exist. */
export async function findOwn(
  payments: Pick<Payments, 'load'>,
  caller: Caller,
  token: string,
): Promise<PaymentView | undefined> {
  const view = isToken(token) ? await payments.load(token) : undefined;
  return view !== undefined && isOwnedBy(view.payment, caller) ? view : undefined;
}
