/** The merchants' money. A wallet is the money of one merchant in one currency; amounts are minor units. */
import type { DatabaseSync } from 'node:sqlite';

export interface WalletName {
  merchantId: number;
  currency: string;
}

/** Sums of one wallet; none is ever negative. */
interface Sums {
  /** Approved money that has not settled yet: the sum of its lots. */
  hold: number;
  /** Settled money, available for payouts. */
  available: number;
  /** Lost by the merchant beyond both; later settlements pay it off first. */
  debt: number;
}

/** Held money of one approval; becomes available when it is due. */
interface Lot {
  id: number;
  wallet: WalletName;
  token: string;
  remaining: number;
}

/** The token of a payment or payout, and its wallet. */
interface Subject extends WalletName {
  token: string;
}

const lotColumns = 'SELECT id, merchant_id, currency, token, remaining FROM hold_lots';

export type Wallets = ReturnType<typeof createWallets>;

/** All but `of`, `list`, `fits` and `nextSettlement` run inside a transaction. */
export function createWallets(
  connection: DatabaseSync,
  {
    now,
    settlementDelayMs,
  }: {
    now: () => number;
    /** Time from the approval of a payment until its money is available. */
    settlementDelayMs: number;
  },
) {
  const statements = prepareStatements(connection);

  const sumsOf = ({ merchantId, currency }: WalletName): Sums => {
    const { hold = 0, available = 0, debt = 0 } = statements.find.get(merchantId, currency) ?? {};
    return { hold: Number(hold), available: Number(available), debt: Number(debt) };
  };
  const of = ({ merchantId, currency }: WalletName) => {
    const { available, hold } = sumsOf({ merchantId, currency });
    return { currency, available, hold };
  };
  const book = (
    { merchantId, currency }: WalletName,
    { hold = 0, available = 0, debt = 0 }: Partial<Sums>,
  ): void => {
    statements.open.run(merchantId, currency);
    statements.add.run(hold, available, debt, merchantId, currency);
  };
  /** Takes money that the wallet has: the payment's own held money, `available`, the newest held money. */
  const draw = (payment: Subject, amount: number): void => {
    const { merchantId, currency, token } = payment;
    const own = drawFromLots(statements, statements.lotsOfToken.iterate(merchantId, currency, token), amount);
    const available = Math.min(amount - own, sumsOf(payment).available);
    const others = drawFromLots(
      statements,
      statements.newestLots.iterate(merchantId, currency),
      amount - own - available,
    );
    book(payment, { hold: -own - others, available: -available });
  };
  const settleLot = (lot: Lot): void => {
    const debt = Math.min(lot.remaining, sumsOf(lot.wallet).debt);
    statements.deleteLot.run(lot.id);
    book(lot.wallet, { hold: -lot.remaining, debt: -debt, available: lot.remaining - debt });
  };

  return {
    of,
    list: (merchantId: number) =>
      statements.list.all(merchantId).map(({ currency }) => of({ merchantId, currency: String(currency) })),
    /** False if approving `amount` would exceed the largest exact sum. */
    fits: (name: WalletName, amount: number): boolean => {
      const { hold, available } = sumsOf(name);
      return Number.isSafeInteger(hold + available + amount);
    },
    /** An approval: held until it settles. */
    credit: ({ merchantId, currency, token }: Subject, amount: number): void => {
      book({ merchantId, currency }, { hold: amount });
      statements.insertLot.run(merchantId, currency, token, amount, now() + settlementDelayMs);
    },
    /** False if there is not enough money. */
    refund: (payment: Subject, amount: number): boolean => {
      const { available, hold } = sumsOf(payment);
      if (available + hold < amount) return false;
      draw(payment, amount);
      return true;
    },
    /** Takes money back regardless of the balance: a lost dispute, or an approval that an operator revises. */
    takeBack: (payment: Subject, amount: number): void => {
      const { available, hold } = sumsOf(payment);
      const taken = Math.min(amount, available + hold);
      draw(payment, taken);
      book(payment, { debt: amount - taken });
    },
    /** From `available` only. False if there is not enough. */
    payOut: (name: WalletName, amount: number): boolean => {
      if (sumsOf(name).available < amount) return false;
      book(name, { available: -amount });
      return true;
    },
    /** Settles due lots, at most `limit`. */
    settle: (limit: number): void => statements.lotsDue.all(now(), limit).map(toLot).forEach(settleLot),
    /** Settles a payment's held money before it is due. */
    settleNow: ({ merchantId, currency, token }: Subject): void =>
      statements.lotsOfToken.all(merchantId, currency, token).map(toLot).forEach(settleLot),
    nextSettlement: (): number | undefined => statements.nextDue.all().map((row) => Number(row['due_at']))[0],
  };
}

const toLot = (row: Record<string, unknown>): Lot => ({
  id: Number(row['id']),
  wallet: { merchantId: Number(row['merchant_id']), currency: String(row['currency']) },
  token: String(row['token']),
  remaining: Number(row['remaining']),
});

function prepareStatements(connection: DatabaseSync) {
  return {
    find: connection.prepare(
      'SELECT hold, available, debt FROM wallets WHERE merchant_id = ? AND currency = ?',
    ),
    list: connection.prepare('SELECT currency FROM wallets WHERE merchant_id = ? ORDER BY currency'),
    open: connection.prepare('INSERT OR IGNORE INTO wallets (merchant_id, currency) VALUES (?, ?)'),
    add: connection.prepare(
      `UPDATE wallets SET hold = hold + ?, available = available + ?, debt = debt + ?
     WHERE merchant_id = ? AND currency = ?`,
    ),
    insertLot: connection.prepare(
      'INSERT INTO hold_lots (merchant_id, currency, token, remaining, due_at) VALUES (?, ?, ?, ?, ?)',
    ),
    newestLots: connection.prepare(`${lotColumns} WHERE merchant_id = ? AND currency = ? ORDER BY id DESC`),
    lotsOfToken: connection.prepare(
      `${lotColumns} WHERE merchant_id = ? AND currency = ? AND token = ? ORDER BY id`,
    ),
    shrinkLot: connection.prepare('UPDATE hold_lots SET remaining = remaining - ? WHERE id = ?'),
    deleteLot: connection.prepare('DELETE FROM hold_lots WHERE id = ?'),
    lotsDue: connection.prepare(`${lotColumns} WHERE due_at <= ? ORDER BY due_at, id LIMIT ?`),
    nextDue: connection.prepare('SELECT due_at FROM hold_lots ORDER BY due_at, id LIMIT 1'),
  };
}

/** Takes up to `amount` from the lots, read one by one: a wallet may have a hundred thousand. */
function drawFromLots(
  { deleteLot, shrinkLot }: ReturnType<typeof prepareStatements>,
  rows: Iterable<Record<string, unknown>>,
  amount: number,
): number {
  let drawn = 0;
  for (const row of rows) {
    if (drawn >= amount) break;
    const { id, remaining } = toLot(row);
    const part = Math.min(remaining, amount - drawn);
    if (part === remaining) deleteLot.run(id);
    else shrinkLot.run(part, id);
    drawn += part;
  }
  return drawn;
}
