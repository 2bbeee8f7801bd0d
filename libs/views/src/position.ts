/**
 * What is left to a team of the money that it took through one account: approved, less what went back and what was paid
 * out. What one payment or payout adds to it, and the sums of that.
 */
import {
  reservedAmount,
  statusOfPayoutPhase,
  statusOfPhase,
  type Environment,
  type Payment,
  type Payout,
} from '@tollgate/payment-domain';

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

/** Undefined where it has taken no money. */
export function positionOfPayment(payment: Payment): PositionPart | undefined {
  const { environment, team, terms, attempt, phase, approvedAmount, refundedAmount } = payment;
  const status = statusOfPhase(phase);
  const taken = status === 'approved' || status === 'refunded' ? approvedAmount : 0;
  const reserved = reservedAmount(payment);
  if (taken === 0 && refundedAmount === 0 && reserved === 0) return undefined;
  return {
    ...{ environment, team, currency: terms.currency, account: attempt.account },
    ...{ available: BigInt(taken) - BigInt(refundedAmount) - BigInt(reserved), hold: BigInt(reserved) },
  };
}

/** Undefined where nothing is paid out. */
export function positionOfPayout({
  environment,
  team,
  terms,
  call,
  phase,
}: Payout): PositionPart | undefined {
  const status = statusOfPayoutPhase(phase);
  if (status === 'declined') return undefined;
  const { currency } = terms;
  const amount = BigInt(terms.amount);
  return {
    ...{ environment, team, currency, account: call.account },
    ...{ available: -amount, hold: status === 'pending' ? amount : 0n },
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
