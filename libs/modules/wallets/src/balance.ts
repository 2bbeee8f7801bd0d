/** The balance for teams: what the wallet can pay out now, and why the rest is on hold. */
import type { ApiError } from '@tollgate/core/money';
import {
  type Account,
  type Accounts,
  type Balance,
  type InquiryOutcome,
  providerWallet,
  type Requester,
  walletNameOf,
} from '@tollgate/core';
import type { Clock } from '@tollgate/service-kit';
import { availableCap } from './balance-and-limit-guard.ts';
import { leftOf } from './reservations.ts';
import type { WalletNow, WalletReservations } from './wallet-reservations.ts';

/** Minor units. The parts of `hold` are absent if payouts use the provider's balance. */
interface WalletBalance extends Balance {
  reserved?: number;
  disputed?: number;
  notSettled?: number;
}

type BalanceResult =
  | { kind: 'balance'; balance: WalletBalance }
  /** One of the accounts gave no usable answer: a partial sum is not a balance. */
  | { kind: 'unavailable' }
  /** The provider has certainly refused: a retry returns the same. */
  | { kind: 'refused'; errors: readonly ApiError[] }
  | { kind: 'no-account' };

export type Balances = ReturnType<typeof createBalances>;

interface BalanceDependencies {
  accounts: Accounts;
  reservations: WalletReservations;
  clock: Clock;
}

export function createBalances({ accounts, reservations, clock }: BalanceDependencies) {
  const balanceOf = createProviderBalances(clock);
  return {
    async read(caller: Requester, currency: string): Promise<BalanceResult> {
      const { environment, team } = caller;
      const names = accounts.route({ environment, team, currency, token: '' });
      const route = accounts
        .all()
        .filter((each) => each.environment === environment && names.includes(each.name));
      if (route.length === 0) return { kind: 'no-account' };
      const wallet = walletNameOf(caller);
      const now =
        wallet === providerWallet ? undefined : await reservations.read({ environment, wallet, currency });
      // Only accounts with money left limit the payout.
      const asked = now === undefined ? route : route.filter(({ name }) => leftIn(now, name, currency) > 0n);
      const answers = await Promise.all(asked.map((account) => balanceOf(account, currency)));
      const refused = answers.find((answer) => answer.kind === 'refused');
      if (refused !== undefined) return refused;
      const balances = answers.flatMap((each) => (each.kind === 'accepted' ? [each.answer] : []));
      if (balances.length < asked.length) return { kind: 'unavailable' };
      const provided = new Map(asked.map(({ name }, index) => [name, balances[index]?.available ?? 0]));
      const balance =
        now === undefined ? sumOf(balances, currency) : walletBalanceOf(now, currency, provided);
      return { kind: 'balance', balance };
    },
  };
}

function sumOf(balances: readonly Balance[], currency: string): Balance {
  const sum = (field: 'available' | 'hold') => balances.reduce((total, each) => total + each[field], 0);
  return { currency, available: sum('available'), hold: sum('hold') };
}

const leftIn = ({ ledger, open }: WalletNow, account: string, currency: string): bigint =>
  leftOf(availableCap(ledger, account, currency), open);

/** @param provided the provider's available amount, by account that can pay out for the team */
function walletBalanceOf(
  now: WalletNow,
  currency: string,
  provided: ReadonlyMap<string, number>,
): WalletBalance {
  const { ledger, open } = now;
  const draws = open.filter(({ account }) => account !== undefined);
  let reserved = draws.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  let [available, disputed, notSettled] = [0n, 0n, 0n];
  for (const [account, amounts] of ledger.byAccount) {
    const left = leftIn(now, account, currency);
    const payable = smaller(left, BigInt(provided.get(account) ?? 0));
    available += payable;
    notSettled += left - payable;
    reserved += amounts.reserved ?? 0n;
    disputed += amounts.disputed ?? 0n;
  }
  return {
    currency,
    available: Number(available),
    hold: Number(reserved + disputed + notSettled),
    reserved: Number(reserved),
    disputed: Number(disputed),
    notSettled: Number(notSettled),
  };
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** How long an account's answer is reused. @unit milliseconds */
const keptMs = 1_000;

type Answer = InquiryOutcome<Balance>;

/** Concurrent calls share one upstream call, and its answer is cached for a second. */
function createProviderBalances(clock: Clock) {
  const kept = new Map<string, { answer: Promise<Answer>; until: number }>();
  return (account: Account, currency: string): Promise<Answer> => {
    const key = JSON.stringify([account.environment, account.name, currency]);
    const known = kept.get(key);
    if (known !== undefined && clock.monotonic() < known.until) return known.answer;
    const entry = { answer: account.provider.balance(currency), until: Infinity };
    // From the answer on; failures are not cached.
    const keepFor = (durationMs: number) => (entry.until = clock.monotonic() + durationMs);
    entry.answer.then(
      (answer) => keepFor(answer.kind === 'accepted' ? keptMs : 0),
      () => keepFor(0),
    );
    kept.set(key, entry);
    return entry.answer;
  };
}
