/** A guard may stop a command before it is announced: limits, balances, approvals. The composition lists the guards. */
import type { RequestPayout } from '../domain/payout/payout-commands.ts';
import type { Requester, LimitedOperation } from '../domain/requester.ts';
import type { Cause } from '../aggregates/repository.ts';

/** A command that is about to be announced. */
export interface GuardedCommand {
  operation: LimitedOperation;
  caller: Requester;
  cause: Cause;
  /** Of the payment, refund or payout: a guard reserves once for each. */
  token: string;
  /** The payment or payout whose stream announces it. */
  subject: string;
  /** Minor units. */
  amount: number;
  currency: string;
  fingerprint: string;
  account: string;
  /** From then on, milliseconds since the Unix epoch, a command that was not announced cannot be sent. */
  lapsesAt: number;
  /** When it was asked for, milliseconds since the Unix epoch. */
  askedAt: number;
  /** The wallet of a payout that was recorded to wait for approval and is sent now. Its amount counts since then. */
  recordedIn?: string | undefined;
  /** The announcement of a payout. */
  payout?: RequestPayout | undefined;
}

export interface LimitRefusal {
  code: 'amount_limit_exceeded' | 'daily_limit_exceeded';
  /** Whose limit it is. */
  of: 'team' | 'key';
  operation: LimitedOperation;
  currency: string;
  /** Minor units. */
  limit: number;
  /** What is left of the day, and when it ends, milliseconds since the Unix epoch. */
  left?: { amount: number; until: number };
}

export interface BalanceRefusal {
  code: 'payout_exceeds_balance' | 'transfer_exceeds_balance';
  /** What one payout or transfer may be at most, minor units. */
  availableAmount: number;
  currency: string;
}

/** A closed union: each code is mapped once, at the edge. Another request under the same key may be in progress. */
export type GuardRefusal = LimitRefusal | BalanceRefusal | { code: 'operation_in_progress' };

export interface GuardRefused {
  kind: 'refused';
  refusal: GuardRefusal;
}

export type Verdict =
  | { kind: 'passed' }
  | GuardRefused
  /** It is recorded and waits for a person or a second key. */
  | { kind: 'waiting'; isNew: boolean };

export interface Guard {
  /** Lets a command pass, reserving what it is about to use. @throws StoreUnavailable */
  check(command: GuardedCommand): Promise<Verdict>;
  /** Of these accounts those through which the command may pass. Reserves nothing. Absent: all of them. */
  accountsFor?(command: AccountsWanted): Promise<readonly string[] | GuardRefused>;
}

export type AccountsWanted = Pick<
  GuardedCommand,
  'operation' | 'caller' | 'token' | 'amount' | 'currency'
> & {
  accounts: readonly string[];
};

/** Asks each guard in turn. An amount that an earlier one has reserved for a refused command lapses by itself. */
export async function passGuards(guards: readonly Guard[], command: GuardedCommand): Promise<Verdict> {
  for (const guard of guards) {
    const verdict = await guard.check(command);
    if (verdict.kind !== 'passed') return verdict;
  }
  return { kind: 'passed' };
}

/** The accounts through which all guards may let the command pass. */
export async function guardedAccounts(
  guards: readonly Guard[],
  { accounts: all, ...command }: AccountsWanted,
): Promise<readonly string[] | GuardRefused> {
  let accounts = all;
  for (const guard of guards) {
    const left = await guard.accountsFor?.({ ...command, accounts });
    if (left !== undefined && 'kind' in left) return left;
    accounts = left ?? accounts;
  }
  return accounts;
}
