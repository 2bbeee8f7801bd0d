/**
 * What is left to a team of the money that it took through one account: approved, less what went back and what was paid
 * out. What one payment or payout adds to it, and the sums of that.
 */
import { amountSchema } from '@tollgate/payment-domain/money';
import {
  isAboutToken,
  reservedAmount,
  shownPayoutCodes,
  statusOfPayoutPhase,
  statusOfPhase,
  type Environment,
  type Payment,
  type Payout,
} from '@tollgate/payment-domain';
import { leftForCertain } from './position-in-review.ts';

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

/** Undefined where it has taken no money. What it may not have taken, or may have given back, is held until a person has answered the review. */
export function positionOfPayment(payment: Payment): PositionPart | undefined {
  const { environment, team, terms, attempt, phase, approvedAmount, refundedAmount } = payment;
  const status = statusOfPhase(phase);
  const taken = status === 'approved' || status === 'refunded' ? approvedAmount : 0;
  const reserved = reservedAmount(payment);
  if (taken === 0 && refundedAmount === 0 && reserved === 0) return undefined;
  const left = BigInt(taken) - BigInt(refundedAmount);
  const available = leftForCertain(payment, { taken, gone: refundedAmount + reserved });
  return {
    ...{ environment, team, currency: terms.currency, account: attempt.account },
    ...{ available, hold: left - available },
  };
}

/** Undefined where nothing is paid out. What may have gone out beside it, or with another amount, is held until a person has answered the review. */
export function positionOfPayout(payout: Payout): PositionPart | undefined {
  const { environment, team, terms, call, phase } = payout;
  const status = statusOfPayoutPhase(phase);
  const known = status === 'declined' ? 0 : terms.amount;
  const { own, beside } = shownInReview(payout);
  const out = Math.max(known, own);
  const open = status === 'pending' ? out : out - known;
  if (out === 0 && beside === 0n) return undefined;
  return {
    ...{ environment, team, currency: terms.currency, account: call.account },
    ...{ available: -BigInt(out) - beside, hold: BigInt(open) + beside },
  };
}

/**
 * What the provider shows of it, and of what is beside it, and nobody has said yet what holds: of each the most. Evidence without an amount
 * (earlier releases had none of a second one, or of an unknown status): what was asked for.
 */
function shownInReview(payout: Payout): { own: number; beside: bigint } {
  const { reviews, terms } = payout;
  const most = new Map<string, number>();
  for (const review of reviews) {
    const { code, evidence } = review;
    const isOurCurrency = (evidence['observedCurrency'] ?? terms.currency) === terms.currency;
    if (!shownPayoutCodes.includes(code) || !isOurCurrency || evidence['observedStatus'] === 'declined')
      continue;
    const token = besideIn(payout, review);
    const amount = amountSchema.safeParse(evidence['observedAmount']).data ?? terms.amount;
    most.set(token, Math.max(amount, most.get(token) ?? 0));
  }
  const own = most.get('') ?? 0;
  most.delete('');
  return { own, beside: [...most.values()].reduce((sum, amount) => sum + BigInt(amount), 0n) };
}

/** The one that a review is about; empty where it is the payout itself. */
function besideIn({ serviceToken }: Payout, review: Payout['reviews'][number]): string {
  const { serviceToken: second, observedServiceToken: shown } = review.evidence;
  if (review.code === 'second_payout_found') return String(second);
  const isOurs = serviceToken !== undefined && isAboutToken(serviceToken)(review);
  return isOurs ? '' : String(shown ?? '');
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
