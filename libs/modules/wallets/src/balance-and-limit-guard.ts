/** One guard for balances and limits: both are caps on the same reservation. */
import {
  type BalanceRefusal,
  type Guard,
  type GuardedCommand,
  type GuardRefusal,
  providerWallet,
  walletNameOf,
} from '@tollgate/core';
import { utcDayOf } from '@tollgate/service-kit';
import type { LedgerNow } from '@tollgate/views';
import { dailyCap, limitsOf, refusalOfLimit } from './daily-limit.ts';
import { type Cap, leftOf, refusalOf, type Reservation, reserve } from './reservations.ts';
import type { WalletReservations } from './wallet-reservations.ts';

/** A payment or refund without a daily limit reads and reserves nothing. */
export const createBalanceAndLimitGuard = (reservations: WalletReservations): Guard => ({
  check: (command) =>
    command.recordedIn === undefined
      ? checkNew(reservations, command)
      : requireCovered(reservations, command, command.recordedIn),
  async accountsFor({ operation, caller, token, amount, currency, accounts }) {
    const wallet = walletNameOf(caller);
    if (operation !== 'payout' || wallet === providerWallet || accounts.length < 2) return accounts;
    const { environment } = caller;
    const { ledger, open } = await reservations.read({ environment, wallet, currency });
    const others = open.filter((each) => each.token !== token);
    const lefts = accounts
      .map((account) => ({ account, cap: availableCap(ledger, account, currency) }))
      .map((each) => ({ ...each, left: leftOf(each.cap, others) }));
    const able = lefts.filter(({ left }) => left >= BigInt(amount)).map(({ account }) => account);
    if (able.length > 0) return able;
    const most = lefts.reduce((one, other) => (other.left > one.left ? other : one));
    return refused(refusalOf(most.cap, most.left));
  },
});

async function checkNew(reservations: WalletReservations, command: GuardedCommand) {
  const { caller, operation, amount, currency, account, askedAt, cause } = command;
  const limits = limitsOf(caller, operation, currency);
  const tooLow = limits.find(({ perCall }) => perCall !== null && amount > perCall);
  if (tooLow !== undefined)
    return refused(refusalOfLimit('amount_limit_exceeded', tooLow, tooLow.perCall ?? 0));
  const daily = limits.filter(({ perDay }) => perDay !== null);
  const wallet = walletNameOf(caller);
  const isBounded = operation === 'payout' && wallet !== providerWallet;
  if (!isBounded && daily.length === 0) return passed;
  const { environment, team } = caller;
  const day = utcDayOf(askedAt);
  const today = { environment, team, operation, currency, day };
  const wanted = toReservation(command, day);
  const about = { commands: [wanted], spent: daily.length === 0 ? [] : [today], cause };
  const decided = await reservations.decide({ environment, wallet, currency }, about, ({ ledger, open }) => {
    if (ledger.recorded.has(wanted.token)) return { kind: 'unchanged' };
    return reserve(open, wanted, [
      ...(isBounded ? [availableCap(ledger, account, currency)] : []),
      ...daily.map((limit) => dailyCap(ledger, limit, today)),
    ]);
  });
  return decided.kind === 'refused' ? decided : passed;
}

/**
 * An approved payout has counted since its request. Before it is sent, the balance must cover it: money may have been refunded
 * meanwhile. The reservations are rewritten unchanged, so that a payout decided before this record is decided again.
 */
async function requireCovered(
  reservations: WalletReservations,
  { caller: { environment }, account, amount, currency, cause }: GuardedCommand,
  wallet: string,
) {
  if (wallet === providerWallet) return passed;
  const about = { commands: [], spent: [], cause };
  const decided = await reservations.decide({ environment, wallet, currency }, about, ({ ledger, open }) => {
    const cap = availableCap(ledger, account, currency);
    const left = leftOf(cap, open);
    return left < 0n
      ? refused(refusalOf(cap, left + BigInt(amount)))
      : { kind: 'reserved', reservations: open };
  });
  return decided.kind === 'refused' ? decided : passed;
}

function toReservation({ caller, operation, account, ...command }: GuardedCommand, day: string): Reservation {
  const { token, subject, amount, fingerprint, lapsesAt } = command;
  return {
    token,
    subject,
    operation,
    team: caller.team,
    keyId: caller.keyId,
    ...(operation === 'payout' ? { account } : {}),
    amount,
    day,
    fingerprint,
    lapsesAt,
  };
}

/** The wallet's rest in an account, for payouts and transfers. */
export const availableCap = (
  ledger: LedgerNow,
  account: string,
  currency: string,
  code: BalanceRefusal['code'] = 'payout_exceeds_balance',
): Cap => ({
  left: ledger.byAccount.get(account)?.available ?? 0n,
  counts: (reservation) => reservation.account === account,
  refusal: (availableAmount) => ({ code, availableAmount, currency }),
});

const refused = (refusal: GuardRefusal) => ({ kind: 'refused', refusal }) as const;
const passed = { kind: 'passed' } as const;
