/**
 * The limits of one call and of one day. A daily limit is a cap on the same reservations as the balance: `reserve` in
 * `reservations.ts` compares.
 */
import type { LimitedOperation, LimitRefusal, MoneyLimit, Requester } from '@tollgate/core';
import { dayMs } from '@tollgate/service-kit';
import type { LedgerNow, SpentQuery } from '@tollgate/views';
import type { Cap } from './reservations.ts';

export const limitsOf = (
  { limits = [] }: Pick<Requester, 'limits'>,
  operation: LimitedOperation,
  currency: string,
): MoneyLimit[] => limits.filter((each) => each.operation === operation && each.currency === currency);

/** The rest of today's limit: recorded spending is subtracted here, reservations are counted by {@link Cap}. */
export function dailyCap(ledger: LedgerNow, limit: MoneyLimit, today: SpentQuery): Cap {
  const { team, operation, day } = today;
  const { keyId } = limit;
  const perDay = limit.perDay ?? 0;
  const until = (Math.floor(Date.parse(day) / dayMs) + 1) * dayMs;
  return {
    left: BigInt(perDay) - ledger.spentOf(today, keyId),
    counts: (each) =>
      each.team === team &&
      each.operation === operation &&
      each.day === day &&
      (keyId === undefined || each.keyId === keyId),
    refusal: (amount) => ({
      ...refusalOfLimit('daily_limit_exceeded', limit, perDay),
      left: { amount, until },
    }),
  };
}

export const refusalOfLimit = (
  code: LimitRefusal['code'],
  { keyId, operation, currency }: MoneyLimit,
  limit: number,
): LimitRefusal => ({ code, of: keyId === undefined ? 'team' : 'key', operation, currency, limit });
