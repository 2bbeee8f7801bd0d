/** Everything that moves money, composed over the tables: payments, refunds, payouts, disputes, and what falls due. */
import type { Ids } from '@tollgate/service-kit';
import { createDisputes, type Disputes } from './disputes.ts';
import type { Faults } from './faults.ts';
import { createLedgerAccounts, type LedgerAccounts } from './ledger-accounts.ts';
import { createPaymentChanges, type PaymentChanges } from './payment-changes.ts';
import { createPayouts, type Payouts } from './payouts.ts';
import { createRefunds, type Refunds } from './refunds.ts';
import type { Database } from './storage/database.ts';
import type { Tables } from './storage/tables.ts';
import { createTransactions } from './transactions.ts';

export interface MoneyMovements {
  accounts: LedgerAccounts;
  changes: PaymentChanges;
  refunding: Refunds;
  payingOut: Payouts;
  disputing: Disputes;
  /** Expires and settles what is due, some of it at a time, and gives the time at which the next of it is due. */
  doDue(): Promise<number | undefined>;
}

export interface MoneyMovementsDeps {
  database: Pick<Database, 'write'>;
  tables: Tables;
  faults: Faults;
  now: () => number;
  ids: Pick<Ids, 'hex'>;
  settlementDelayMs: number;
  /** Called after a commit: callbacks and settlements may be due. */
  onChange: () => void;
}

const settlementsPerCommitMax = 500;

export function createMoneyMovements(deps: MoneyMovementsDeps): MoneyMovements {
  const { database, tables, now, ids, settlementDelayMs } = deps;
  const accounts = createLedgerAccounts({ table: tables.bookings, now, settlementDelayMs });
  const transactions = createTransactions({ ...deps, ...tables, accounts });
  const common = { ...tables, transactions, accounts, now, ids };
  const changes = createPaymentChanges(common);
  return {
    accounts,
    changes,
    refunding: createRefunds(common),
    payingOut: createPayouts(common),
    disputing: createDisputes(common),
    doDue: async () => {
      const nextExpiry = await changes.expireDue();
      if ((accounts.nextSettlement() ?? Number.POSITIVE_INFINITY) <= now())
        await database.write(() => accounts.settle(settlementsPerCommitMax));
      const next = [nextExpiry, accounts.nextSettlement()].filter((time) => time !== undefined);
      return next.length === 0 ? undefined : Math.min(...next);
    },
  };
}
