/**
 * What is left to a team of the money that it took through one account: approved, less what went back and what was paid
 * out. What one payment or payout adds to it, and the sums of that.
 */
import {
  reservedAmount,
  reservedByDiscrepancies,
  reservedByPayoutDiscrepancies,
  statusOfPayoutPhase,
  statusOfPhase,
  type Environment,
  type Payment,
  type Payout,
} from '@tollgate/core';

interface PositionKey {
  environment: Environment;
  team: string;
  /** ISO 4217 alphabetic code. */
  currency: string;
  /** The merchant account that has the money. */
  account: string;
}

/** Minor units. Below zero where more went back than was left: a refund is never refused for it. */
export interface PositionSums {
  /** Approved − refunded − paid out; refunds and payouts count from their announcement until they have failed. */
  available: bigint;
  /** Of what is not available: refunds and payouts whose outcome is open. */
  hold: bigint;
}

export interface PositionPart extends PositionKey, PositionSums {}

export const noPosition: PositionSums = { available: 0n, hold: 0n };

export const plusPosition = (one: PositionSums, other: PositionSums): PositionSums => ({
  available: one.available + other.available,
  hold: one.hold + other.hold,
});

const minusPosition = (one: PositionSums, other: PositionSums): PositionSums => ({
  available: one.available - other.available,
  hold: one.hold - other.hold,
});

/** Undefined if it has taken no money. The worst case of its discrepancies is held. */
export function positionOfPayment(payment: Payment): PositionPart | undefined {
  const { environment, team, terms, attempt, phase, approvedAmount, refundedAmount } = payment;
  const status = statusOfPhase(phase);
  const taken = status === 'approved' || status === 'refunded' ? approvedAmount : 0;
  const held = BigInt(reservedAmount(payment)) + BigInt(reservedByDiscrepancies(payment));
  if (taken === 0 && refundedAmount === 0 && held === 0n) return undefined;
  return {
    environment,
    team,
    currency: terms.currency,
    account: attempt.account,
    available: BigInt(taken) - BigInt(refundedAmount) - held,
    hold: held,
  };
}

/** Undefined if nothing is paid out. The worst case of its discrepancies is held. */
export function positionOfPayout(payout: Payout): PositionPart | undefined {
  const { environment, team, terms, call, phase } = payout;
  const status = statusOfPayoutPhase(phase);
  const out = status === 'declined' ? 0n : BigInt(terms.amount);
  const reserved = BigInt(reservedByPayoutDiscrepancies(payout));
  if (out === 0n && reserved === 0n) return undefined;
  return {
    environment,
    team,
    currency: terms.currency,
    account: call.account,
    available: -out - reserved,
    hold: (status === 'pending' ? out : 0n) + reserved,
  };
}

const nameOf = ({ environment, team, currency, account }: PositionKey): string =>
  JSON.stringify([environment, team, currency, account]);

/** Changes summed up by key. */
export function createPositionChanges() {
  const byKey = new Map<string, PositionPart>();

  function add(
    part: PositionPart | undefined,
    sum: (one: PositionSums, other: PositionSums) => PositionSums,
  ): void {
    if (part === undefined) return;
    const { environment, team, currency, account } = part;
    const found = byKey.get(nameOf(part)) ?? noPosition;
    byKey.set(nameOf(part), { environment, team, currency, account, ...sum(found, part) });
  }

  return {
    /** What a payment or payout was until now is taken off, and what it is from now on is added. */
    replace(before: PositionPart | undefined, after: PositionPart | undefined): void {
      add(before, minusPosition);
      add(after, plusPosition);
    },
    list: (): PositionPart[] =>
      [...byKey.values()].filter(({ available, hold }) => available !== 0n || hold !== 0n),
  };
}
