/** Payouts: settled money that the merchant sends to a card, to a bank account, or to the card of an earlier payment. */
import { apiError, type ApiError } from '@tollgate/payment-api';
import type { Ids } from '@tollgate/service-kit';
import { toNotice } from './callbacks.ts';
import type { LedgerAccounts } from './ledger-accounts.ts';
import { newTokenOf, recurringTokenNotFound } from './payment-changes.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { PaymentsTable } from './storage/payments-table.ts';
import type { Payout, RecordsTable } from './storage/records-table.ts';
import type { Transactions } from './transactions.ts';

/** What is left of a destination once it is read: how it ends, and a card's mask. */
type PayoutDestination =
  { recurringToken: string } | { outcome: 'approved' | 'declined'; sanitizedMask?: string | undefined };

/** A payout as the service reads it, in minor units. */
export interface PayoutTerms {
  amount: number;
  currency: string;
  orderNumber: string;
  callbackUrl?: string | undefined;
  destination: PayoutDestination;
}

/** A payout, approved or declined, or why there is none; nothing was changed then. */
export type PaidOut = { payout: Payout; refused?: never } | { refused: ApiError; payout?: never };

export interface Payouts {
  /** Pays out at once, and resolves when that is durable. `alsoWrite` runs in the same transaction. */
  payOut(merchant: Merchant, terms: PayoutTerms, alsoWrite: (paidOut: PaidOut) => void): Promise<PaidOut>;
}

export interface PayoutsDeps {
  transactions: Transactions;
  payouts: RecordsTable<Payout>;
  payments: Pick<PaymentsTable, 'findFirstOf'>;
  accounts: Pick<LedgerAccounts, 'payOut' | 'wallet'>;
  now: () => number;
  ids: Pick<Ids, 'hex'>;
}

export function createPayouts(deps: PayoutsDeps): Payouts {
  return {
    payOut: (merchant, terms, alsoWrite) =>
      deps.transactions.write(() => {
        const paidOut = payOutUnlessRefused(deps, merchant, terms);
        alsoWrite(paidOut);
        return paidOut;
      }),
  };
}

/** Runs inside a transaction. */
function payOutUnlessRefused(deps: PayoutsDeps, merchant: Merchant, terms: PayoutTerms): PaidOut {
  const { transactions, accounts, payouts } = deps;
  const destination = resolve(deps, merchant, terms.destination);
  if (destination === undefined) return { refused: recurringTokenNotFound('destination.recurringToken') };
  const payout = newPayout(deps, merchant, terms, destination);
  const isCovered =
    payout.status === 'approved'
      ? accounts.payOut(payout, payout.amount)
      : accounts.wallet(payout).available >= payout.amount;
  if (!isCovered) return { refused: balanceTooSmall() };
  payouts.insert(payout);
  if (payout.callbackUrl !== undefined) transactions.tell(toNotice('payout', payout, payout.callbackUrl));
  return { payout };
}

type ResolvedDestination = Exclude<PayoutDestination, { recurringToken: string }>;

function resolve(
  { payments }: PayoutsDeps,
  merchant: Merchant,
  destination: PayoutDestination,
): ResolvedDestination | undefined {
  if ('outcome' in destination) return destination;
  const first = payments.findFirstOf(destination.recurringToken);
  if (first?.merchantId !== merchant.id) return undefined;
  return { outcome: 'approved', sanitizedMask: first.sanitizedMask };
}

function newPayout(
  { ids, now }: PayoutsDeps,
  merchant: Merchant,
  { amount, currency, orderNumber, callbackUrl }: PayoutTerms,
  { outcome, sanitizedMask }: ResolvedDestination,
): Payout {
  const at = now();
  return {
    token: newTokenOf(ids),
    merchantId: merchant.id,
    status: outcome,
    ...{ amount, currency, orderNumber, callbackUrl, sanitizedMask },
    declineReason: outcome === 'declined' ? 'card_declined' : undefined,
    createdAt: at,
    updatedAt: at,
  };
}

const balanceTooSmall = (): ApiError =>
  apiError('balance_less_than_amount', 'The available balance is less than the amount.', 'amount');
