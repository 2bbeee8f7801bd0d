/** A guard may stop a command before its announcement: limits, balances, approvals. The composition lists the guards. */
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
  /** The deadline, milliseconds since the Unix epoch: a command that was not announced by then cannot be sent. */
  lapsesAt: number;
  /** Time of the request, milliseconds since the Unix epoch. */
  askedAt: number;
  /** The wallet of an approved payout that is sent now. Its amount has counted since the request. */
  recordedIn?: string | undefined;
  payout?: RequestPayout | undefined;
}

export interface LimitRefusal {
  code: 'amount_limit_exceeded' | 'daily_limit_exceeded';
  of: 'team' | 'key';
  operation: LimitedOperation;
  currency: string;
  /** Minor units. */
  limit: number;
  /** The rest of the day's limit, and the end of the day, milliseconds since the Unix epoch. */
  left?: { amount: number; until: number };
}

export interface BalanceRefusal {
  code: 'payout_exceeds_balance' | 'transfer_exceeds_balance';
  /** Maximum of one payout or transfer, minor units. */
  availableAmount: number;
  currency: string;
}

/** Closed: each code is mapped once, at the edge. Another request under the same key may be in progress. */
export type GuardRefusal = LimitRefusal | BalanceRefusal | { code: 'operation_in_progress' };

export interface GuardRefused {
  kind: 'refused';
  refusal: GuardRefusal;
}

export type Verdict =
  | { kind: 'passed' }
  | GuardRefused
  /** Recorded, and waits for a person or a second key. */
  | { kind: 'waiting'; isNew: boolean };

export interface Guard {
  /** Permits a command and reserves what it will use. @throws StoreUnavailable */
  check(command: GuardedCommand): Promise<Verdict>;
  /** The given accounts that the command may use. Reserves nothing. Absent: all of them. */
  accountsFor?(command: AccountsWanted): Promise<readonly string[] | GuardRefused>;
}

export type AccountsWanted = Pick<
  GuardedCommand,
  'operation' | 'caller' | 'token' | 'amount' | 'currency'
> & {
  accounts: readonly string[];
};

/** Asks each guard in turn. A reservation of a refused command lapses by itself. */
export async function passGuards(guards: readonly Guard[], command: GuardedCommand): Promise<Verdict> {
  for (const guard of guards) {
    const verdict = await guard.check(command);
    if (verdict.kind !== 'passed') return verdict;
  }
  return { kind: 'passed' };
}

/** The accounts through which all guards let the command pass. */
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
