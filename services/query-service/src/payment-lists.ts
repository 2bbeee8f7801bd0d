/** The views in a list of payments, and their form in it. */
import type { OperationType } from '@tollgate/gateway-api/http';
import { paymentColumns, toListedPayout, toPublicPayment } from '@tollgate/gateway-api';
import type { Caller } from '@tollgate/teams';
import type { Listing, OperationView, PaymentIndex, ViewList } from '@tollgate/lists';

type List = (query: Omit<Listing<never>, 'accepts'>) => ViewList<OperationView>;

export const listOf = (index: PaymentIndex, type: OperationType): List =>
  ({ pays: index.listPayments, payouts: index.listPayouts, all: index.listOperations })[type];

const toShown = (view: OperationView) => ('payment' in view ? toPublicPayment(view) : toListedPayout(view));

export const toShownTo =
  (caller: Pick<Caller, 'scopes'>) =>
  (view: OperationView): object => ({ ...toShown(view), ...accountFor(caller, view) });

/** For people: a team's programs do not need it. */
export const accountFor = ({ scopes }: Pick<Caller, 'scopes'>, view: OperationView): { account?: string } => {
  if (!scopes.has('admin')) return {};
  return { account: 'payment' in view ? view.payment.attempt.account : view.payout.call.account };
};

/** Added after the first release, so that readers by position still work. */
const addedColumns = ['metadata'];

/**
 * Of a file. Amounts are in minor units of the adjacent currency, times ISO 8601 in UTC. Fields that payouts lack are empty.
 */
export const fileColumns = [
  'operationType',
  ...paymentColumns.filter((name) => !addedColumns.includes(name)),
  ...['reviews', ...addedColumns],
];

export const toFileCells = (view: OperationView): Readonly<Record<string, unknown>> => ({
  operationType: 'payment',
  ...toShown(view),
});
