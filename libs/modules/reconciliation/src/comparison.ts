/** Compares a row of the provider's list with our record. */
import {
  isBeforeAnnouncement,
  isRefundedByWord,
  statusOf,
  statusOfPayoutPhase,
  statusOfPhase,
  type SubjectState,
  creationOf,
  stateOf,
  type Environment,
  type PaymentAggregate,
  type PayoutAggregate,
} from '@tollgate/core';
import { type ReconciledPart, type Sums, addCounts, addSums, noCounts } from './reconciliation.ts';
import type { OperationKind } from '@tollgate/books';

/** From the index, which may lag behind the recorded events. */
export type BookedOperation = PaymentAggregate | PayoutAggregate;

/** Reads throw retryable errors while the index is incomplete. */
export interface Books {
  find(operation: OperationKind, token: string): BookedOperation | undefined;
  /** Our payment under this provider token. */
  findPayment(environment: Environment, account: string, serviceToken: string): string | undefined;
  /** Everything of an account created on a day, a page at a time. */
  pagesOf(operation: OperationKind, place: BooksOfDay): Iterable<readonly BookedOperation[]>;
}

interface BooksOfDay {
  environment: Environment;
  account: string;
  /** `YYYY-MM-DD` in UTC. */
  day: string;
}

/** A payment or payout on one side; amounts in minor units. */
export interface Standing {
  status: string;
  amount: number;
  /** Null if the provider shows none. */
  refundedAmount: number | null;
}

/** A row of the provider's list. */
export interface ListedRow extends Standing {
  serviceToken: string;
  currency: string;
  orderNumber?: string | undefined;
  /** Milliseconds since the Unix epoch. */
  createdAt?: number | undefined;
}

/**
 * Some deployments report `refunded` after a partial refund. A missing sum cannot be compared: our books' sum is used.
 *
 * @param here absent if our books do not have it
 */
export function standingThere(
  { status, amount, refundedAmount: shown }: Standing,
  here?: Standing,
): Standing {
  const isUnknown = isRefundedByWord({ status, refundedAmount: shown ?? undefined });
  const refundedAmount = (isUnknown ? null : shown) ?? here?.refundedAmount ?? null;
  return {
    status: statusOf({ status, amount, refundedAmount: refundedAmount ?? undefined }),
    amount,
    refundedAmount,
  };
}

export function standingHere(subject: SubjectState): Standing {
  if ('payout' in subject) {
    const { phase, terms } = subject.payout;
    return { status: statusOfPayoutPhase(phase), amount: terms.amount, refundedAmount: 0 };
  }
  const { phase, terms, approvedAmount, refundedAmount } = subject.payment;
  const amount = approvedAmount > 0 ? approvedAmount : terms.amount;
  return { status: statusOfPhase(phase), amount, refundedAmount };
}

const isTaken = ({ status }: Standing): boolean => status === 'approved' || status === 'refunded';
const hasEndedWithout = ({ status }: Standing): boolean => status === 'declined' || status === 'expired';

/** The amount of a payment that took no money is irrelevant. */
export const isSame = (here: Standing, there: Standing): boolean =>
  here.status === there.status &&
  here.refundedAmount === there.refundedAmount &&
  (here.amount === there.amount || hasEndedWithout(here));

/** True if the row is an unknown attempt or payout under our number. */
export function isAnother(subject: SubjectState, { serviceToken, orderNumber }: ListedRow): boolean {
  if (isWaiting(subject)) return true;
  const known = stateOf(subject).serviceToken;
  if (known !== undefined) return known !== serviceToken;
  return orderNumber !== undefined && orderNumber !== creationOf(subject).providerOrderNumber;
}

/** Its call is not announced, so no token is known. */
const isWaiting = (subject: SubjectState): boolean =>
  'payout' in subject && isBeforeAnnouncement(subject.payout);

/** An abandoned attempt may exist as well: it matters if it took money, or still may. */
export const agrees = (subject: SubjectState, row: ListedRow): boolean => {
  const here = standingHere(subject);
  const there = standingThere(row, here);
  return isAnother(subject, row)
    ? !isWaiting(subject) && (hasEndedWithout(there) || there.status === 'init')
    : isSame(here, there) && stateOf(subject).terms.currency === row.currency;
};

/** The amounts of one row on either side, in the sums of its currency. */
export function sumsOf(
  operation: OperationKind,
  currency: string,
  { here, there }: { here?: Standing | undefined; there?: Standing | undefined },
): Sums {
  const taken = (of: Standing | undefined, kind: OperationKind) =>
    of !== undefined && kind === operation && isTaken(of) ? of.amount : 0;
  return {
    currency,
    paymentsHere: taken(here, 'payment'),
    paymentsThere: taken(there, 'payment'),
    refundsHere: here?.refundedAmount ?? 0,
    refundsThere: there?.refundedAmount ?? 0,
    payoutsHere: taken(here, 'payout'),
    payoutsThere: taken(there, 'payout'),
  };
}

/** Maximum listed differences per part; all are counted. */
const differencesMax = 1_000;

export function joinParts(operation: OperationKind, parts: readonly ReconciledPart[]): ReconciledPart {
  return {
    operation,
    counts: parts.map(({ counts }) => counts).reduce(addCounts, noCounts),
    sums: addSums(parts.flatMap(({ sums }) => sums)),
    differences: parts.flatMap(({ differences }) => differences).slice(0, differencesMax),
    teams: [...new Set(parts.flatMap(({ teams }) => teams))],
  };
}
