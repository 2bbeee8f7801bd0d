/**
 * The merchants' money. `ledger_balances` is the sum of `ledger_entries`, kept beside them; `hold_lots` says when which
 * part of a wallet's held money settles. What was approved before there were accounts is booked now and settles at once.
 */
export const moneyStep = `CREATE TABLE ledger_entries (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     booking TEXT NOT NULL,
     token TEXT NOT NULL,
     at INTEGER NOT NULL,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     currency TEXT NOT NULL,
     account TEXT NOT NULL CHECK (account IN ('hold', 'available', 'debt', 'customers', 'payouts')),
     amount INTEGER NOT NULL
   ) STRICT;

   CREATE TABLE ledger_balances (
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     currency TEXT NOT NULL,
     account TEXT NOT NULL,
     balance INTEGER NOT NULL,
     PRIMARY KEY (merchant_id, currency, account)
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE hold_lots (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     currency TEXT NOT NULL,
     token TEXT NOT NULL,
     remaining INTEGER NOT NULL CHECK (remaining > 0),
     due_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX hold_lots_by_due_time ON hold_lots (due_at, id);
   CREATE INDEX hold_lots_by_wallet ON hold_lots (merchant_id, currency, id);
   CREATE INDEX hold_lots_by_token ON hold_lots (token);

   CREATE TABLE recurring_tokens (
     token TEXT PRIMARY KEY,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     payment_token TEXT NOT NULL
   ) STRICT;

   CREATE TABLE refunds (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     token TEXT NOT NULL UNIQUE,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     payment_token TEXT NOT NULL,
     order_number TEXT,
     record TEXT NOT NULL
   ) STRICT;
   CREATE INDEX refunds_by_order_number ON refunds (merchant_id, order_number);

   CREATE TABLE payouts (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     token TEXT NOT NULL UNIQUE,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     order_number TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     record TEXT NOT NULL
   ) STRICT;
   CREATE INDEX payouts_by_order_number ON payouts (merchant_id, order_number);
   CREATE INDEX payouts_by_creation ON payouts (merchant_id, created_at);

   CREATE TABLE disputes (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     dispute_id TEXT NOT NULL UNIQUE,
     merchant_id INTEGER NOT NULL REFERENCES merchants (id),
     order_number TEXT,
     record TEXT NOT NULL
   ) STRICT;
   CREATE INDEX disputes_by_merchant ON disputes (merchant_id, id);

   CREATE TEMP TABLE approved AS
     SELECT token, merchant_id, created_at, json_extract(record, '$.currency') AS currency,
       json_extract(record, '$.amount') AS amount
     FROM payments WHERE json_extract(record, '$.status') = 'approved';
   INSERT INTO hold_lots (merchant_id, currency, token, remaining, due_at)
     SELECT merchant_id, currency, token, amount, created_at FROM approved;
   INSERT INTO ledger_entries (booking, token, at, merchant_id, currency, account, amount)
     SELECT 'payment_approved', token, created_at, merchant_id, currency, 'hold', amount FROM approved
     UNION ALL
     SELECT 'payment_approved', token, created_at, merchant_id, currency, 'customers', -amount FROM approved;
   INSERT INTO ledger_balances (merchant_id, currency, account, balance)
     SELECT merchant_id, currency, account, sum(amount) FROM ledger_entries GROUP BY merchant_id, currency, account;
   INSERT OR IGNORE INTO recurring_tokens (token, merchant_id, payment_token)
     SELECT json_extract(record, '$.recurringToken'), merchant_id, token FROM payments
     WHERE json_extract(record, '$.recurringToken') IS NOT NULL ORDER BY id;
   DROP TABLE approved;`;
