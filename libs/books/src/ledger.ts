/**
 * The ledger: every cent in double entry. A standing holds the amounts of one payment, payout or transfer in the accounts of
 * its wallet; they sum to zero. A journal entry is the change of a standing by one event. Both are computed from the events.
 */
import {
  type Environment,
  type LimitedOperation,
  type Payment,
  type Payout,
  disputedAmount,
  isPaidPhase,
  lostAmount,
  reservedAmount,
  reservedByDiscrepancies,
  reservedByPayoutDiscrepancies,
  statusOfPayoutPhase,
  statusOfPhase,
} from '@tollgate/core';
import type { Transfer } from './transfer.ts';

export const ledgerAccounts = [
  /** The outside world: the source and destination of money. */
  'customers',
  /** Can be paid out or refunded. */
  'available',
  /** Refunds and payouts without an outcome, and payouts that await approval. */
  'reserved',
  /** Unusable until the provider, a bank or an operator decides. */
  'disputed',
  'paidOut',
  'lost',
  /** Adopted payments that no operator has declared payable. */
  'adopted',
  /** Moved to other wallets; negative if received from them. */
  'transferred',
] as const;
export type LedgerAccount = (typeof ledgerAccounts)[number];

/** Minor units by ledger account; 0 where absent. */
export type LedgerAmounts = Readonly<Partial<Record<LedgerAccount, bigint>>>;

export interface LedgerOwner {
  environment: Environment;
  /** As `walletNameOf` names it. */
  wallet: string;
  /** The merchant account that has the money. */
  account: string;
  /** ISO 4217 alphabetic code. */
  currency: string;
}

export interface Standing extends LedgerOwner {
  amounts: LedgerAmounts;
}

export interface Posting {
  ledgerAccount: LedgerAccount;
  /** Minor units; negative if money leaves the account. */
  amount: bigint;
}

/** The postings of an entry sum to zero. */
export interface JournalEntry extends LedgerOwner {
  postings: readonly Posting[];
}

/** An entry as the index keeps it. */
export interface KeptEntry extends LedgerOwner {
  /** Absent for an entry without a team in a shared wallet. */
  team?: string;
  kind: EntryKind;
  eventId: string;
  eventType: string;
  /** Number among the entries of its event. */
  number: number;
  /** The payment, payout or transfer. */
  subject: string;
  /** The refund or dispute in the event, if any. */
  part?: string;
  /** Milliseconds since the Unix epoch. */
  at: number;
  postings: readonly (readonly [LedgerAccount, bigint])[];
}

/**
 * Of a payment: approved, refunded, reserved for refunds, lost, and disputed, including the worst case of its discrepancies.
 */
export function standingsOfPayment(payment: Payment): Standing[] {
  const { environment, wallet, terms, attempt, notPayable } = payment;
  const taken = BigInt(isPaidPhase(payment) ? payment.approvedAmount : 0);
  const refunded = BigInt(payment.refundedAmount);
  const reserved = BigInt(reservedAmount(payment));
  // A bank takes back no more than was taken.
  const lost = BigInt(isPaidPhase(payment) ? lostAmount(payment) : 0);
  const open = BigInt(isPaidPhase(payment) ? disputedAmount(payment) : 0);
  const left = taken - refunded - reserved - lost - open;
  const disputed = open + atMost(BigInt(reservedByDiscrepancies(payment)), left);
  const owner = { environment, wallet, account: attempt.account, currency: terms.currency };
  return standing(owner, {
    customers: refunded - taken,
    reserved,
    disputed,
    lost,
    [notPayable === true ? 'adopted' : 'available']: taken - refunded - reserved - lost - disputed,
  });
}

/** A discrepancy reserves at most what the disputes leave. */
const atMost = (worstCase: bigint, left: bigint): bigint =>
  left <= 0n ? 0n : worstCase < left ? worstCase : left;

/** Of a payout: reserved until its outcome is known, and disputed for the worst case of its discrepancies. */
export function standingsOfPayout(payout: Payout): Standing[] {
  const { environment, wallet, terms, call, phase } = payout;
  const status = statusOfPayoutPhase(phase);
  const reserved = BigInt(status === 'pending' ? terms.amount : 0);
  const paidOut = BigInt(status === 'approved' ? terms.amount : 0);
  const disputed = BigInt(reservedByPayoutDiscrepancies(payout));
  const owner = { environment, wallet, account: call.account, currency: terms.currency };
  return standing(owner, { available: -reserved - paidOut - disputed, reserved, paidOut, disputed });
}

export function standingsOfTransfer({ amount, from, to, ...owner }: Transfer): Standing[] {
  const moved = BigInt(amount);
  const { environment, account, currency } = owner;
  return [
    ...standing({ environment, account, currency, wallet: from }, { available: -moved, transferred: moved }),
    ...standing({ environment, account, currency, wallet: to }, { available: moved, transferred: -moved }),
  ];
}

function standing(owner: LedgerOwner, amounts: LedgerAmounts): Standing[] {
  return Object.values(amounts).every((amount) => amount === 0n) ? [] : [{ ...owner, amounts }];
}

/** The entries of one event: one for each wallet, account and currency. */
export function entriesOf(before: readonly Standing[], after: readonly Standing[]): JournalEntry[] {
  const changes = createLedgerChanges();
  changes.replace(before, after);
  return changes.list().map(({ amounts, ...owner }) => ({ ...owner, postings: postingsOf(amounts) }));
}

const postingsOf = (amounts: LedgerAmounts): Posting[] =>
  ledgerAccounts
    .map((ledgerAccount) => ({ ledgerAccount, amount: amounts[ledgerAccount] ?? 0n }))
    .filter(({ amount }) => amount !== 0n);

export function createLedgerChanges() {
  const byOwner = new Map<string, Standing>();
  const add = (standings: readonly Standing[], sign: 1n | -1n): void => {
    for (const { amounts, ...owner } of standings) {
      const name = JSON.stringify([owner.environment, owner.wallet, owner.account, owner.currency]);
      const known = byOwner.get(name)?.amounts ?? {};
      byOwner.set(name, { ...owner, amounts: plusAmounts(known, amounts, sign) });
    }
  };
  return {
    /** Subtracts the standings before an event, and adds those after it. */
    replace(before: readonly Standing[], after: readonly Standing[]): void {
      add(before, -1n);
      add(after, 1n);
    },
    list: (): Standing[] => [...byOwner.values()].filter(({ amounts }) => postingsOf(amounts).length > 0),
  };
}

function plusAmounts(one: LedgerAmounts, other: LedgerAmounts, sign: 1n | -1n = 1n): LedgerAmounts {
  const sum: Partial<Record<LedgerAccount, bigint>> = { ...one };
  for (const [name, amount] of Object.entries(other))
    sum[name as LedgerAccount] = (sum[name as LedgerAccount] ?? 0n) + sign * amount;
  return sum;
}

export const entryKinds = [
  'payment',
  'refund',
  'payout',
  'dispute',
  'discrepancy',
  'adoption',
  'transfer',
] as const;
export type EntryKind = (typeof entryKinds)[number];

/**
 * The kind of an entry, for people.
 *
 * @param subject the kind of stream that has the event
 * @param type of the event
 */
export function entryKindOf(subject: 'payment' | 'payout' | 'transfer', type: string): EntryKind {
  if (type.startsWith('Review')) return 'discrepancy';
  if (type.startsWith('Dispute')) return 'dispute';
  if (type.includes('Refund')) return 'refund';
  return type.includes('Adopt') ? 'adoption' : subject;
}

/** An amount under the daily limits. */
export interface Spending {
  environment: Environment;
  team: string;
  /** Id of the key of the request. */
  keyId: string;
  operation: LimitedOperation;
  currency: string;
  /** Time of the request, milliseconds since the Unix epoch. */
  at: number;
  /** Minor units. */
  amount: number;
}

/** The payment, unless declined, failed or expired, and its refunds. */
export function spendingOfPayment(payment: Payment, createdAt: number): Spending[] {
  const { environment, team, terms, askedBy, phase } = payment;
  const owner = { environment, team, currency: terms.currency };
  const status = statusOfPhase(phase);
  const isNothing = askedBy === '' || status === 'declined' || status === 'expired';
  const own: Spending = {
    ...owner,
    keyId: askedBy,
    operation: 'payment',
    at: createdAt,
    amount: terms.amount,
  };
  const refunds = payment.refunds
    .filter(({ state }) => state !== 'declined')
    .map((refund): Spending => {
      const { askedBy: keyId, askedAt: at, amount } = refund;
      return { ...owner, keyId, operation: 'refund', at, amount };
    });
  return isNothing ? refunds : [own, ...refunds];
}

/** As {@link spendingOfPayment}. */
export function spendingOfPayout(payout: Payout, createdAt: number): Spending[] {
  const { environment, team, terms, askedBy, phase } = payout;
  if (statusOfPayoutPhase(phase) === 'declined') return [];
  const { amount, currency } = terms;
  return [{ environment, team, currency, keyId: askedBy, operation: 'payout', at: createdAt, amount }];
}
