import type { DatabaseSync } from 'node:sqlite';

/**
 * The accounts of a wallet. `hold` and `available` are the merchant's money. `debt` is the merchant's debt (never
 * positive). `customers` is the source of payments and the target of refunds (never positive). `payouts` is the total
 * paid out.
 */
type AccountName = 'hold' | 'available' | 'debt' | 'customers' | 'payouts';
type Balances = Record<AccountName, number>;

/** A merchant's money in one currency. */
export interface WalletName {
  merchantId: number;
  currency: string;
}

/** One line of a booking, in minor units. */
export type Entry = readonly [account: AccountName, amount: number];

export interface Booking {
  wallet: WalletName;
  /** The kind of booking, for example `refund`. */
  name: string;
  /** Token of the payment, refund, payout or dispute. */
  token: string;
  at: number;
  entries: readonly Entry[];
}

/** Held money of one approval; becomes available at `dueAt`. */
export interface Lot {
  id: number;
  wallet: WalletName;
  token: string;
  remaining: number;
}

export type AccountsTable = ReturnType<typeof createAccountsTable>;

const lotColumns = 'SELECT id, merchant_id, currency, token, remaining FROM hold_lots';

/** Entries, balances and lots. Functions that write run inside a transaction. */
export function createAccountsTable(connection: DatabaseSync) {
  const balances = connection.prepare(
    'SELECT account, balance FROM ledger_balances WHERE merchant_id = ? AND currency = ?',
  );
  const currencies = connection.prepare(
    'SELECT DISTINCT currency FROM ledger_balances WHERE merchant_id = ? ORDER BY currency',
  );
  const insertEntry = connection.prepare(
    `INSERT INTO ledger_entries (booking, token, at, merchant_id, currency, account, amount)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const addToBalance = connection.prepare(
    `INSERT INTO ledger_balances (merchant_id, currency, account, balance) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET balance = balance + excluded.balance`,
  );
  const insertLot = connection.prepare(
    'INSERT INTO hold_lots (merchant_id, currency, token, remaining, due_at) VALUES (?, ?, ?, ?, ?)',
  );
  const newestLots = connection.prepare(
    `${lotColumns} WHERE merchant_id = ? AND currency = ? ORDER BY id DESC`,
  );
  const lotsOfToken = connection.prepare(
    `${lotColumns} WHERE token = ? AND merchant_id = ? AND currency = ? ORDER BY id`,
  );
  const shrinkLot = connection.prepare('UPDATE hold_lots SET remaining = remaining - ? WHERE id = ?');
  const deleteLot = connection.prepare('DELETE FROM hold_lots WHERE id = ?');
  const lotsDue = connection.prepare(`${lotColumns} WHERE due_at <= ? ORDER BY due_at, id LIMIT ?`);
  const nextDue = connection.prepare('SELECT due_at FROM hold_lots ORDER BY due_at, id LIMIT 1');
  return {
    balances: ({ merchantId, currency }: WalletName): Balances => {
      const found: Balances = { hold: 0, available: 0, debt: 0, customers: 0, payouts: 0 };
      for (const row of balances.all(merchantId, currency))
        found[row['account'] as AccountName] = Number(row['balance']);
      return found;
    },
    /** The currencies in which a merchant has ever had money. */
    currencies: (merchantId: number): string[] =>
      currencies.all(merchantId).map((row) => String(row['currency'])),
    append: ({ wallet: { merchantId, currency }, name, token, at, entries }: Booking): void => {
      for (const [account, amount] of entries) {
        insertEntry.run(name, token, at, merchantId, currency, account, amount);
        addToBalance.run(merchantId, currency, account, amount);
      }
    },
    addLot: ({ wallet, token, remaining }: Omit<Lot, 'id'>, dueAt: number): void => {
      insertLot.run(wallet.merchantId, wallet.currency, token, remaining, dueAt);
    },
    /**
     * Lots that together hold at least `amount`, or all: those of `token` only, or of the whole wallet, newest first.
     */
    lotsFor: ({ merchantId, currency }: WalletName, amount: number, token?: string): Lot[] => {
      const rows =
        token === undefined
          ? newestLots.iterate(merchantId, currency)
          : lotsOfToken.iterate(token, merchantId, currency);
      return takeUntil(rows, amount);
    },
    shrinkLot: ({ id, remaining }: Lot, by: number): void => {
      if (by === remaining) deleteLot.run(id);
      else shrinkLot.run(by, id);
    },
    lotsDue: (now: number, limit: number): Lot[] => lotsDue.all(now, limit).map(toLot),
    nextDue: (): number | undefined => nextDue.all().map((row) => Number(row['due_at']))[0],
  };
}

/** Reads lots only until they hold `amount`, so that a refund does not read a hundred thousand lots. */
function takeUntil(rows: Iterable<Record<string, unknown>>, amount: number): Lot[] {
  const lots: Lot[] = [];
  let found = 0;
  for (const row of rows) {
    if (found >= amount) break;
    const lot = toLot(row);
    lots.push(lot);
    found += lot.remaining;
  }
  return lots;
}

const toLot = (row: Record<string, unknown>): Lot => ({
  id: Number(row['id']),
  wallet: { merchantId: Number(row['merchant_id']), currency: String(row['currency']) },
  token: String(row['token']),
  remaining: Number(row['remaining']),
});
