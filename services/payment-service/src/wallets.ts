/** The merchants' money. A wallet is the money of one merchant in one currency; amounts are minor units. */
import type { DatabaseSync } from 'node:sqlite';

export interface WalletName {
  merchantId: number;
  currency: string;
}

/** The token of a payment, and its wallet. */
interface Subject extends WalletName {
  token: string;
}

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

  /** Approved money that has not settled yet, and the rest, which is negative while the merchant owes money. */
  const sumsOf = ({ merchantId, currency }: WalletName) => {
    const { held = 0, settled = 0 } = statements.find.get(merchantId, currency) ?? {};
    return { held: Number(held), settled: Number(settled) };
  };
  const of = (name: WalletName) => {
    const { held, settled } = sumsOf(name);
    const owed = Math.min(0, settled);
    return { currency: name.currency, available: Math.max(0, settled), hold: Math.max(0, held + owed) };
  };
  const book = ({ merchantId, currency }: WalletName, held: number, settled: number): void => {
    statements.add.run(merchantId, currency, held, settled);
  };
  const totalOf = (name: WalletName): number => {
    const { held, settled } = sumsOf(name);
    return held + settled;
  };
  /** Takes money back regardless of the balance: the payment's own held money first. */
  const takeBack = (payment: Subject, amount: number): void => {
    const { remaining = 0 } = statements.findLot.get(payment.token) ?? {};
    const own = Math.min(amount, Number(remaining));
    statements.shrinkLot.run(own, payment.token);
    book(payment, -own, own - amount);
  };
  const settleLots = (lots: readonly Record<string, unknown>[]): void => {
    for (const { token, merchant_id: merchantId, currency, remaining } of lots) {
      statements.deleteLot.run(String(token));
      book(
        { merchantId: Number(merchantId), currency: String(currency) },
        -Number(remaining),
        Number(remaining),
      );
    }
  };

  return {
    of,
    list: (merchantId: number) =>
      statements.list.all(merchantId).map(({ currency }) => of({ merchantId, currency: String(currency) })),
    /** False if approving `amount` would exceed the largest exact sum. */
    fits: (name: WalletName, amount: number): boolean => Number.isSafeInteger(totalOf(name) + amount),
    /** An approval: held until it settles. */
    credit: (payment: Subject, amount: number): void => {
      const { merchantId, currency, token } = payment;
      book(payment, amount, 0);
      statements.insertLot.run(token, merchantId, currency, amount, now() + settlementDelayMs);
    },
    /** False if there is not enough money. */
    refund: (payment: Subject, amount: number): boolean => {
      if (totalOf(payment) < amount) return false;
      takeBack(payment, amount);
      return true;
    },
    takeBack,
    /** From `available` only. False if there is not enough. */
    payOut: (name: WalletName, amount: number): boolean => {
      if (sumsOf(name).settled < amount) return false;
      book(name, 0, -amount);
      return true;
    },
    /** Settles due money of at most `limit` payments. */
    settle: (limit: number): void => settleLots(statements.lotsDue.all(now(), limit)),
    /** Settles a payment's held money before it is due. */
    settleNow: ({ token }: Subject): void => settleLots(statements.findLot.all(token)),
    nextSettlement: (): number | undefined => statements.nextDue.all().map((row) => Number(row['due_at']))[0],
  };
}

function prepareStatements(connection: DatabaseSync) {
  const lots = 'SELECT token, merchant_id, currency, remaining FROM hold_lots';
  return {
    find: connection.prepare('SELECT held, settled FROM wallets WHERE merchant_id = ? AND currency = ?'),
    list: connection.prepare('SELECT currency FROM wallets WHERE merchant_id = ? ORDER BY currency'),
    add: connection.prepare(
      `INSERT INTO wallets (merchant_id, currency, held, settled) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET held = held + excluded.held, settled = settled + excluded.settled`,
    ),
    // A payment that was declined after its approval, and approved again, has an empty one.
    insertLot: connection.prepare(
      'INSERT OR REPLACE INTO hold_lots (token, merchant_id, currency, remaining, due_at) VALUES (?, ?, ?, ?, ?)',
    ),
    findLot: connection.prepare(`${lots} WHERE token = ?`),
    shrinkLot: connection.prepare('UPDATE hold_lots SET remaining = remaining - ? WHERE token = ?'),
    deleteLot: connection.prepare('DELETE FROM hold_lots WHERE token = ?'),
    lotsDue: connection.prepare(`${lots} WHERE due_at <= ? ORDER BY due_at LIMIT ?`),
    nextDue: connection.prepare('SELECT due_at FROM hold_lots ORDER BY due_at LIMIT 1'),
  };
}
