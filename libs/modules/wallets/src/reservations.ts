/**
 * Amounts of one wallet that are decided and not recorded yet. Recorded amounts count in the ledger. Each reservation stays
 * within its caps: the available money of an account, and the daily limits. Pure.
 */
import { type GuardRefusal, limitedOperations } from '@tollgate/core';
import { amountSchema } from '@tollgate/core/money';
import { z } from 'zod';

export const reservationSchema = z.object({
  /** Of the payment, refund, payout or transfer: a repeat reserves once. */
  token: z.string(),
  /** The stream that records it: for a refund, the payment. */
  subject: z.string(),
  operation: z.enum([...limitedOperations, 'transfer']),
  team: z.string(),
  keyId: z.string(),
  /** The merchant account that it draws on; absent for a payment or refund. */
  account: z.string().exactOptional(),
  amount: amountSchema,
  /** The UTC day that it counts on. */
  day: z.string(),
  /** Of the request: another one under the same key waits. */
  fingerprint: z.string(),
  /** Deadline of its call, milliseconds since the Unix epoch. Absent for a transfer, which makes no call. */
  lapsesAt: z.int().exactOptional(),
});
export type Reservation = z.infer<typeof reservationSchema>;

/** Concurrent, in one wallet and currency. */
export const reservationsMax = 1_000;

/** Limits the reservations that it counts. */
export interface Cap {
  /** Left before any reservation, minor units. */
  left: bigint;
  counts(reservation: Reservation): boolean;
  /** @param left the rest after the other reservations; never negative */
  refusal(left: number): GuardRefusal;
}

export type ReservationDecision =
  | { kind: 'reserved'; reservations: readonly Reservation[] }
  /** Already reserved, with these terms and deadline. */
  | { kind: 'unchanged' }
  | { kind: 'refused'; refusal: GuardRefusal };

/** @param open reservations that are neither recorded nor lapsed */
export function reserve(
  open: readonly Reservation[],
  wanted: Reservation,
  caps: readonly Cap[],
): ReservationDecision {
  const known = open.find(({ token }) => token === wanted.token);
  if (known !== undefined && !isAlike(known, wanted)) return inProgress;
  const merged = known === undefined ? wanted : merge(known, wanted);
  if (merged === known) return { kind: 'unchanged' };
  const others = open.filter((each) => each !== known);
  const exceeded = caps.find((cap) => BigInt(wanted.amount) > leftOf(cap, others));
  if (exceeded !== undefined)
    return { kind: 'refused', refusal: refusalOf(exceeded, leftOf(exceeded, others)) };
  return { kind: 'reserved', reservations: [...others, merged] };
}

const inProgress = { kind: 'refused', refusal: { code: 'operation_in_progress' } } as const;

/** The amount that a cap leaves for another reservation. Negative if refunds exceeded it. */
export const leftOf = ({ left, counts }: Cap, open: readonly Reservation[]): bigint =>
  open.filter(counts).reduce((rest, { amount }) => rest - BigInt(amount), left);

export const refusalOf = ({ refusal }: Cap, left: bigint): GuardRefusal =>
  refusal(Number(left > 0n ? left : 0n));

const isAlike = (one: Reservation, other: Reservation): boolean =>
  one.account === other.account && one.keyId === other.keyId && one.fingerprint === other.fingerprint;

/** Of several requests under one key, any may be announced: the largest amount counts, until the latest end. */
function merge(known: Reservation, wanted: Reservation): Reservation {
  const amount = Math.max(known.amount, wanted.amount);
  const lapsesAt = Math.max(known.lapsesAt ?? 0, wanted.lapsesAt ?? 0);
  if (amount === known.amount && lapsesAt === (known.lapsesAt ?? 0)) return known;
  return { ...wanted, amount, lapsesAt };
}
