/** The balance that a team reads: its own position, or that of the accounts that its payments go to, asked of the provider. */
import type { ApiError } from '@tollgate/core/money';
import type { Environment, Balance, InquiryOutcome, Account, Accounts, Requester } from '@tollgate/core';
import type { Clock } from '@tollgate/service-kit';
import type { Positions } from './positions.ts';

type BalanceResult =
  | { kind: 'balance'; balance: Balance }
  /** One of the accounts gave no usable answer: a part of the sum would be no balance. */
  | { kind: 'unavailable' }
  /** The provider has certainly refused: asking again brings the same. */
  | { kind: 'refused'; errors: readonly ApiError[] }
  | { kind: 'no-account' };

export interface Balances {
  /** Minor units; the sum over the accounts that take this team's payments in this currency. */
  read(wanted: { environment: Environment; team: string; currency: string }): Promise<BalanceResult>;
}

/** How long an account's answer is given again, milliseconds. */
const keptMs = 1_000;

type Answer = InquiryOutcome<Balance>;

/** Calls at the same time share one upstream call, and its answer is kept for a second. */
export function createBalances({ accounts, clock }: { accounts: Accounts; clock: Clock }): Balances {
  const kept = new Map<string, { answer: Promise<Answer>; until: number }>();

  function balanceOf(account: Account, currency: string): Promise<Answer> {
    const key = JSON.stringify([account.environment, account.name, currency]);
    const known = kept.get(key);
    if (known !== undefined && clock.monotonic() < known.until) return known.answer;
    const entry = { answer: account.provider.balance(currency), until: Infinity };
    // From the answer on; what failed is not kept.
    const keepFor = (durationMs: number) => (entry.until = clock.monotonic() + durationMs);
    entry.answer.then(
      (answer) => keepFor(answer.kind === 'accepted' ? keptMs : 0),
      () => keepFor(0),
    );
    kept.set(key, entry);
    return entry.answer;
  }

  return {
    async read({ environment, team, currency }) {
      const names = accounts.route({ environment, team, currency, token: '' });
      const asked = accounts
        .all()
        .filter((each) => each.environment === environment && names.includes(each.name));
      if (asked.length === 0) return { kind: 'no-account' };
      const answers = await Promise.all(asked.map((account) => balanceOf(account, currency)));
      const refused = answers.find((answer) => answer.kind === 'refused');
      if (refused !== undefined) return refused;
      const balances = answers.flatMap((each) => (each.kind === 'accepted' ? [each.answer] : []));
      if (balances.length < asked.length) return { kind: 'unavailable' };
      const sum = (field: 'available' | 'hold') => balances.reduce((total, each) => total + each[field], 0);
      return { kind: 'balance', balance: { currency, available: sum('available'), hold: sum('hold') } };
    },
  };
}

/**
 * A team reads its own position, or that of the wallet that it shares. What the provider holds is of all teams of an
 * account: only a team whose payouts are taken from it reads it.
 */
export async function readBalance(
  { positions, balances, accounts }: { positions: Positions; balances: Balances; accounts: Accounts },
  caller: Requester,
  currency: string,
): Promise<BalanceResult> {
  const { environment, team } = caller;
  const sums = await positions.balance(caller, currency);
  if (sums === undefined) return balances.read({ environment, team, currency });
  if (accounts.route({ environment, team, currency, token: '' }).length === 0) return { kind: 'no-account' };
  const [available, hold] = [Number(sums.available), Number(sums.hold)];
  return { kind: 'balance', balance: { currency, available, hold } };
}
