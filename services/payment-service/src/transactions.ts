/** The common part of all money changes: one transaction for the record, the booking and the callback. */
import { paymentNotice, queueCallback, type Notice } from './callbacks.ts';
import { queueFaults, type Faults } from './faults.ts';
import type { LedgerAccounts } from './ledger-accounts.ts';
import {
  approvedMoney,
  declineBeyondLimit,
  expireWhenDue,
  isNewlyPaid,
  needsCallback,
  type Payment,
  type Step,
} from './payments.ts';
import type { Database } from './storage/database.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Tables } from './storage/tables.ts';

export interface TransactionsDeps extends Pick<Tables, 'payments' | 'queue'> {
  database: Pick<Database, 'write'>;
  accounts: LedgerAccounts;
  faults: Faults;
  now: () => number;
  /** Called after the commit: callbacks and settlements may be due. */
  onChange: () => void;
}

export type Transactions = ReturnType<typeof createTransactions>;

export function createTransactions(deps: TransactionsDeps) {
  const { database, payments, accounts, queue, faults, now, onChange } = deps;
  /** Queues a callback, subject to any active fault. */
  const notify = (notice: Notice): void =>
    queueCallback(queue, notice, faults.take(notice.merchantId, 'callback', queueFaults), now());
  const takeStep = (current: Payment, step: Step): Payment => {
    const next = step(current, now());
    if (isNewlyPaid(current, next) && !accounts.fits(next, next.amount))
      return declineBeyondLimit(current, now());
    return next;
  };
  /** Advances a payment by some steps, books the moved money, and notifies the merchant of changes. */
  const advance = (payment: Payment, ...steps: readonly Step[]): Payment => {
    let current = payment;
    for (const step of steps) {
      const next = takeStep(current, step);
      const moved = approvedMoney(current, next);
      if (moved > 0) accounts.credit(next, moved);
      if (moved < 0) accounts.takeBack(next, -moved, 'approval_revised');
      if (needsCallback(current, next)) notify(paymentNotice(next));
      current = next;
    }
    if (current !== payment) payments.update(current);
    return current;
  };
  return {
    notify,
    advance,
    /** Runs a transaction and resolves when it is durable. The other functions are used inside one. */
    write: async <Value>(transaction: () => Value): Promise<Value> => {
      const value = await database.write(transaction);
      onChange();
      return value;
    },
    /** A merchant's payment after any due expiry. */
    findOwn: (merchant: Merchant, token: string): Payment | undefined => {
      const found = payments.find(token);
      return found?.merchantId === merchant.id ? advance(found, expireWhenDue) : undefined;
    },
  };
}
