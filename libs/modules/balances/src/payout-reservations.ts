/**
 * What of a wallet is reserved for payouts that are not recorded yet. Recorded payouts count by themselves, by their own
 * outcome, whenever it comes; a reservation bridges the moment between the decision and the announcement. Pure.
 */
import { amountSchema } from '@tollgate/core/money';
import type { PositionSums } from '@tollgate/views';
import { z } from 'zod';
import type { BalanceRefusal } from '@tollgate/core';

export const reservationSchema = z.object({
  /** Of the payout: a repeat reserves once. */
  token: z.string(),
  account: z.string(),
  amount: amountSchema,
  /** Of the request: another one under the same key waits. */
  fingerprint: z.string(),
  /** From then on, milliseconds since the Unix epoch, a payout that is not recorded cannot be sent any more. */
  lapsesAt: z.int(),
});
export type Reservation = z.infer<typeof reservationSchema>;

/** In one wallet and currency at once. */
export const reservationsMax = 1_000;

/** A wallet as it is: read after its reservations. */
export interface WalletNow {
  byAccount: ReadonlyMap<string, PositionSums>;
  /** Tokens of those payouts that are recorded, and so are in the sums: of the reserved ones, and of the one that is asked for. */
  recorded: ReadonlySet<string>;
  /** Tokens of those reservations that have lapsed without being recorded. */
  lapsed: ReadonlySet<string>;
}

export type ReservationDecision =
  | { kind: 'reserved'; reservations: readonly Reservation[] }
  /** It is recorded or reserved, with these terms and for as long. */
  | { kind: 'unchanged' }
  | { kind: 'refused'; refusal: BalanceRefusal | { code: 'operation_in_progress' } };

/** Those that still hold something: the others are recorded, or can never be. */
export const standing = (reservations: readonly Reservation[], wallet: WalletNow): Reservation[] =>
  reservations.filter(({ token }) => !wallet.lapsed.has(token) && !wallet.recorded.has(token));

/** What is left for a further payout through an account. Below zero where more went back than was left. */
export function availableIn(
  account: string,
  reservations: readonly Reservation[],
  wallet: WalletNow,
): bigint {
  const reserved = standing(reservations, wallet)
    .filter((each) => each.account === account)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return (wallet.byAccount.get(account)?.available ?? 0n) - reserved;
}

// The replay check comes first: what is recorded or reserved is not reserved again.
export function reserve(
  reservations: readonly Reservation[],
  wanted: Reservation & { currency: string },
  wallet: WalletNow,
): ReservationDecision {
  const { currency, ...reservation } = wanted;
  const { token, account, amount } = wanted;
  if (wallet.recorded.has(token)) return { kind: 'unchanged' };
  const before = standing(reservations, wallet);
  const others = before.filter((each) => each.token !== token);
  const known = before.find((each) => each.token === token);
  if (known !== undefined && !isAlike(known, reservation))
    return { kind: 'refused', refusal: { code: 'operation_in_progress' } };
  if (known !== undefined && known.lapsesAt >= reservation.lapsesAt) return { kind: 'unchanged' };
  const available = availableIn(account, others, wallet);
  if (BigInt(amount) > available) return { kind: 'refused', refusal: exceeds(available, currency) };
  return { kind: 'reserved', reservations: [...others, reservation] };
}

/**
 * Whether nothing is short with a payout that has been recorded since it was asked for, and so counts by itself. The list is
 * written as it stands: who has read the wallet before, and reserves at this moment, meets the revision.
 */
export function requireCovered(
  reservations: readonly Reservation[],
  { account, amount, currency }: Pick<Reservation, 'account' | 'amount'> & { currency: string },
  wallet: WalletNow,
): ReservationDecision {
  const available = availableIn(account, reservations, wallet);
  if (available < 0n) return { kind: 'refused', refusal: exceeds(available + BigInt(amount), currency) };
  return { kind: 'reserved', reservations: standing(reservations, wallet) };
}

const isAlike = (one: Reservation, other: Reservation): boolean =>
  one.account === other.account && one.amount === other.amount && one.fingerprint === other.fingerprint;

/** Nothing is left of what is below zero. */
export const exceeds = (available: bigint, currency: string): BalanceRefusal => ({
  code: 'payout_exceeds_position',
  availableAmount: Number(available > 0n ? available : 0n),
  currency,
});
