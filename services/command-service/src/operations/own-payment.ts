import { type Caller, isOwnedBy, isToken } from '@tollgate/teams';
import type { PaymentAggregate, Payments } from '../aggregates/payments.ts';

/** A caller's payment; undefined for one of another team or environment, as for one that does not exist. */
export async function findOwn(
  payments: Pick<Payments, 'load'>,
  caller: Caller,
  token: string,
): Promise<PaymentAggregate | undefined> {
  const aggregate = isToken(token) ? await payments.load(token) : undefined;
  return aggregate !== undefined && isOwnedBy(aggregate.payment, caller) ? aggregate : undefined;
}
