/**
 * The merchants' money, in double-entry bookkeeping: every booking moves an amount from one account to another, so the
 * accounts of a wallet always add up to zero. A wallet is a merchant's money in one currency; amounts are minor units.
 */
import { InvariantViolation } from '@tollgate/service-kit';
import type { AccountsTable, Booking, Entry, Lot, WalletName } from './storage/accounts-table.ts';

/** The content of `GET /balance`; neither amount is ever negative. */
interface Wallet {
  currency: string;
  /** Settled money, available for payouts. */
  available: number;
  /** Approved money that has not settled yet. */
  hold: number;
}

/** The subject of a booking: the token of a payment, refund, payout or dispute, and the wallet. */
interface BookingSubject extends WalletName {
  token: string;
}

export type LedgerAccounts = ReturnType<typeof createLedgerAccounts>;

/** The bookings. All but `wallet`, `wallets` and `nextSettlement` run inside a transaction. */
export function createLedgerAccounts(deps: {
  table: AccountsTable;
  now: () => number;
  /** Time from the approval of a payment until its money is available. */
  settlementDelayMs: number;
}) {
  const { table, now, settlementDelayMs } = deps;
  const book = (name: string, { token, ...wallet }: BookingSubject, ...entries: Entry[]): void =>
    appendBalanced(table, { wallet, name, token, at: now(), entries });
  const walletOf = ({ merchantId, currency }: WalletName): Wallet => {
    const { available, hold } = table.balances({ merchantId, currency });
    return { currency, available, hold };
  };
  const draw = (payment: BookingSubject, amount: number): Entry[] => drawFrom(table, payment, amount);
  const settleLot = (lot: Lot): void => {
    const repaid = Math.min(lot.remaining, -table.balances(lot.wallet).debt);
    const rest = lot.remaining - repaid;
    table.shrinkLot(lot, lot.remaining);
    const subject = { ...lot.wallet, token: lot.token };
    book('settlement', subject, ['hold', -lot.remaining], ['debt', repaid], ['available', rest]);
  };

  return {
    wallet: walletOf,
    wallets: (merchantId: number) =>
      table.currencies(merchantId).map((currency) => walletOf({ merchantId, currency })),
    /** False if approving `amount` would exceed the largest exact sum. */
    fits: (name: WalletName, amount: number) => Number.isSafeInteger(amount - table.balances(name).customers),
    /** Books an approval: held until it settles. */
    credit: ({ merchantId, currency, token }: BookingSubject, amount: number): void => {
      const wallet = { merchantId, currency };
      book('payment_approved', { ...wallet, token }, ['customers', -amount], ['hold', amount]);
      table.addLot({ wallet, token, remaining: amount }, now() + settlementDelayMs);
    },
    /**
     * Books a refund, out of the payment's own held money, then `available`, then the other held money. False if
     * insufficient.
     */
    refund: (payment: BookingSubject, amount: number): boolean => {
      const { available, hold } = walletOf(payment);
      if (available + hold < amount) return false;
      book('refund', payment, ['customers', amount], ...draw(payment, amount));
      return true;
    },
    /**
     * Takes money back regardless of the wallet's balance: a lost dispute, or an approval that an operator revises. A
     * shortfall becomes a debt, which later settlements pay off first.
     */
    takeBack: (
      payment: BookingSubject,
      amount: number,
      reason: 'dispute_lost' | 'approval_revised',
    ): void => {
      const { available, hold } = walletOf(payment);
      const taken = Math.min(amount, available + hold);
      book(reason, payment, ['customers', amount], ['debt', taken - amount], ...draw(payment, taken));
    },
    /** Books a payout, out of `available` only. False if insufficient. */
    payOut: (payout: BookingSubject, amount: number): boolean => {
      if (walletOf(payout).available < amount) return false;
      book('payout', payout, ['available', -amount], ['payouts', amount]);
      return true;
    },
    /** Settles due lots, at most `limit`. */
    settle: (limit: number) => table.lotsDue(now(), limit).forEach(settleLot),
    /** Settles a payment's held money before it is due. */
    settleNow: ({ token, ...wallet }: BookingSubject) =>
      table.lotsFor(wallet, Number.MAX_SAFE_INTEGER, token).forEach(settleLot),
    nextSettlement: () => table.nextDue(),
  };
}

/** Takes `amount` from a wallet that has it: the payment's own held money, `available`, the newest held money. */
function drawFrom(table: AccountsTable, payment: BookingSubject, amount: number): Entry[] {
  const { merchantId, currency, token } = payment;
  const wallet = { merchantId, currency };
  const fromOwn = drawFromLots(table, table.lotsFor(wallet, amount, token), amount);
  const fromAvailable = Math.min(amount - fromOwn, table.balances(wallet).available);
  const missing = amount - fromOwn - fromAvailable;
  const fromOthers = drawFromLots(table, table.lotsFor(wallet, missing), missing);
  return [
    ['hold', -fromOwn - fromOthers],
    ['available', -fromAvailable],
  ];
}

/** Returns how much of `amount` the lots held. */
function drawFromLots(table: AccountsTable, lots: readonly Lot[], amount: number): number {
  let drawn = 0;
  for (const lot of lots) {
    const part = Math.min(lot.remaining, amount - drawn);
    table.shrinkLot(lot, part);
    drawn += part;
  }
  return drawn;
}

/** @throws InvariantViolation, which rolls the transaction back, if the books would be wrong afterwards. */
export function appendBalanced(table: AccountsTable, booking: Booking): void {
  const entries = booking.entries.filter(([, amount]) => amount !== 0);
  table.append({ ...booking, entries });
  const { hold, available, debt, customers, payouts } = table.balances(booking.wallet);
  // The negative amount first, so that no intermediate sum exceeds the largest exact one.
  const all = [customers, hold, available, payouts, debt];
  const isBalanced = total(entries.map(([, amount]) => amount)) === 0 && total(all) === 0;
  const isSound = all.every(Number.isSafeInteger) && hold >= 0 && available >= 0 && debt <= 0;
  if (isBalanced && isSound) return;
  throw new InvariantViolation(`The booking ${booking.name} would leave the ledger out of balance.`);
}

const total = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);
