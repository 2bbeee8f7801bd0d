/** The common part of all money changes: the record, the booking and the callback. */
import type { Ids } from '@tollgate/service-kit';
import { paymentNotice, queueCallback, type Notice } from './callbacks.ts';
import { queueFaults, type Faults } from './faults.ts';
import {
  approvedMoney,
  declineBeyondLimit,
  expireWhenDue,
  isNewlyPaid,
  needsCallback,
  type Payment,
  type Step,
} from './payments.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Tables } from './storage/tables.ts';
import type { Wallets } from './wallets.ts';

export interface TransactionsDeps extends Pick<Tables, 'payments' | 'callbacks'> {
  wallets: Wallets;
  faults: Faults;
  now: () => number;
  ids: Pick<Ids, 'hex'>;
  /** Called when a callback is queued. */
  onChange: () => void;
}

export type Transactions = ReturnType<typeof createTransactions>;

export function createTransactions(deps: TransactionsDeps) {
  const { payments, wallets, callbacks, faults, now, ids, onChange } = deps;
  const newId = () => ids.hex(16);
  /** Queues a callback, subject to any active fault. */
  const notify = (notice: Notice): void => {
    const fault = faults.take(notice.merchantId, 'callback', queueFaults);
    queueCallback({ callbacks, now, newId }, notice, fault);
    onChange();
  };
  const takeStep = (current: Payment, step: Step): Payment => {
    const next = step(current, now());
    if (isNewlyPaid(current, next) && !wallets.fits(next, next.amount))
      return declineBeyondLimit(current, now());
    return next;
  };
  /** Advances a payment by some steps, books the moved money, and notifies the merchant of changes. */
  const advance = (payment: Payment, ...steps: readonly Step[]): Payment => {
    let current = payment;
    for (const step of steps) {
      const next = takeStep(current, step);
      const moved = approvedMoney(current, next);
      if (moved > 0) wallets.credit(next, moved);
      if (moved < 0) wallets.takeBack(next, -moved);
      if (needsCallback(current, next)) notify(paymentNotice(next));
      current = next;
    }
    if (current !== payment) payments.update(current);
    return current;
  };
  return {
    notify,
    advance,
    /** A merchant's payment after any due expiry. */
    findOwn: (merchant: Merchant, token: string): Payment | undefined => {
      const found = payments.find(token);
      return found?.merchantId === merchant.id ? advance(found, expireWhenDue) : undefined;
    },
  };
}
