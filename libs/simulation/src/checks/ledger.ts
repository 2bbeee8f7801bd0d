/**
 * Money by wallet and merchant account. When a payout is announced, the recorded balance of its wallet covers it (I20). When it
 * is sent, the provider's balance of the account covers it (I19), unless money was returned after the decision.
 */
import type { RecordedEvent } from '@tollgate/event-store';
import { wasClockStepped } from '../faults/faults.ts';
import { rulesHoldMs } from '../people/teams.ts';
import type { LedgerPayment } from '../payment-service/ledger.ts';
import { epochMs } from '../world/machine.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, isAwaited, isInReview, leftOf, sumOf, wantedBack } from './books.ts';

interface Transfer {
  account: string;
  from: string;
  to: string;
  amount: number;
}

export interface WalletName {
  wallet: string;
  account: string;
}

export function createLedgerChecks(world: World) {
  const { books, ledger, complain, scheduler } = world;
  const transfers: Transfer[] = [];
  /** Money returned from a wallet, with times. */
  const decreases: ({ at: number; amount: number } & WalletName)[] = [];
  const lefts = new Map<string, number>();
  const isLate = (at: number) => at > scheduler.now() - rulesHoldMs;

  const transferredTo = ({ wallet, account }: WalletName): number =>
    sumOf(
      transfers.filter((each) => each.account === account),
      ({ from, to, amount }) => (to === wallet ? amount : 0) - (from === wallet ? amount : 0),
    );

  function requireCovered(what: string, { wallet, account }: WalletName): void {
    const isOwn = (each: WalletName) => each.wallet === wallet && each.account === account;
    const own = books.all().filter((each) => isOwn(each) && each.isPayable);
    const available = sumOf(own, leftOf) + transferredTo({ wallet, account });
    const wentBack = decreases.filter((each) => isOwn(each) && isLate(each.at));
    if (available + sumOf(wentBack) < 0)
      complain('I20', `${what} leaves ${available} in ${wallet} of ${account}`);
  }

  return {
    transferredTo,
    onRecorded: ({ type, data }: RecordedEvent, operation: OperationOnRecord | undefined): void => {
      if (type === 'WalletTransferred') {
        const transfer = data as Transfer;
        transfers.push(transfer);
        requireCovered('a transfer', { wallet: transfer.from, account: transfer.account });
      }
      if (operation === undefined) return;
      const { token, wallet, account } = operation;
      const left = leftOf(operation);
      const amount = (lefts.get(token) ?? 0) - left;
      lefts.set(token, left);
      if (type === 'PayoutRequested') requireCovered(token, operation);
      else if (amount > 0) decreases.push({ at: scheduler.now(), wallet, account, amount });
    },
    /** Runs before the call is sent. Refunds by others at the provider may not be known here yet. */
    onPayoutSent: ({ token, account, amount }: OperationOnRecord): void => {
      const known = (orderNumber: string) => books.byOrderNumber(orderNumber);
      const taken = ledger.payments.filter(
        (each) => each.account === account && !each.isStranger && known(each.orderNumber)?.isPayable === true,
      );
      const refunded = ledger.refunds.filter(
        ({ payment, status, createdAt }) =>
          status !== 'declined' &&
          !isLate(createdAt - epochMs) &&
          taken.some((each) => each.token === payment && known(each.orderNumber)?.isFreed !== true),
      );
      const out = ledger.payouts.filter(
        (each) =>
          each.account === account && each.status !== 'declined' && known(each.orderNumber)?.isFreed !== true,
      );
      const left = sumOf(taken, ({ tookAmount }) => tookAmount) - sumOf([...refunded, ...out]);
      if (amount > left) complain('I19', `${token} pays out ${amount} of ${left} left in ${account}`);
    },
  };
}

/**
 * In the end an index shows the provider's balance. It may show less, never more, while a review is open or was resolved by a
 * guess.
 */
export function requireWallet(world: World, name: WalletName, available: number, index: string): void {
  const { books, checks, complain, saw } = world;
  const own = books.all().filter((each) => each.wallet === name.wallet && each.account === name.account);
  if (own.some((each) => isUncertain(world, each))) return;
  const there = sumOf(own, (each) => leftAt(world, each)) + checks.wallets.transferredTo(name);
  // A payout in review stays reserved, also between two of its reviews.
  const isOpen = own.some((each) => isInReview(each) || isAwaited(each) || each.isMisjudged);
  saw(isOpen ? 'a balance was compared while something is in review' : 'a balance was compared');
  if (isOpen ? available > there : available !== there)
    complain(
      'I8',
      `${name.wallet} has ${available} in ${name.account} by the index of ${index}, not ${there}`,
    );
}

/** The provider has three days to decide an accepted refund; or a person recorded another amount, or released it wrongly. */
export function isUncertain(world: World, operation: OperationOnRecord): boolean {
  const { refunds, isFreed } = operation;
  if (isFreed || [...refunds.values()].some(({ state }) => state === 'accepted')) return true;
  if (paymentsOf(world, operation).some(({ wasShownWrong }) => wasShownWrong)) return true;
  if (isLeftToReconciliation(world, operation)) return true;
  if (!isInReview(operation)) return false;
  // The banks demand more than was taken, as after a lowered amount: nothing is left that its discrepancy could reserve.
  const taken = takenOf(world, operation);
  if (taken.length > 0 && wantedBack(operation) > sumOf(taken)) return true;
  // A payment in review is not waited for: the next inquiry finds changes at the provider.
  return !isLearnt(world, operation);
}

/**
 * A refund was made in the provider's console while the clock of a process was hours ahead. That used up the inquiries about settled
 * payments, and only a reconciliation learns of the refund.
 */
export const isLeftToReconciliation = (world: World, operation: OperationOnRecord): boolean =>
  wasClockStepped(world.faults) &&
  paymentsOf(world, operation).some((known) => {
    const unlearnt = known.refundedAmount - operation.refundedAmount;
    return unlearnt > 0 && unlearnt === known.refundedInConsole - operation.externalAmount;
  });

/** True if the provider's status is on record, or in the evidence of a review. */
function isLearnt(world: World, operation: OperationOnRecord): boolean {
  const { phase: status, refundedAmount, reviews, amount, approvedAmount } = operation;
  const onRecord = { status, amount: approvedAmount > 0 ? approvedAmount : amount, refundedAmount };
  const inReview = [...reviews.values()].map(({ evidence }) => ({
    status: evidence['observedStatus'] ?? status,
    amount: evidence['observedAmount'] ?? onRecord.amount,
    refundedAmount: evidence['observedRefundedAmount'] ?? refundedAmount,
  }));
  return [...paymentsOf(world, operation), ...payoutsOf(world, operation)].every((each) =>
    [onRecord, ...inReview].some(
      (learnt) =>
        learnt.status === each.status &&
        learnt.amount === each.amount &&
        learnt.refundedAmount === ('refundedAmount' in each ? each.refundedAmount : 0),
    ),
  );
}

/** Remaining money of a payment; negative for a payout. */
function leftAt(world: World, operation: OperationOnRecord): number {
  const { phase, amount, isPayable, isMisjudged } = operation;
  if (!isPayable) return 0;
  const paidOut = payoutsOf(world, operation).filter(({ status }) => status !== 'declined');
  const taken = takenOf(world, operation);
  // A payout that awaits approval is reserved.
  const waits = phase === 'awaiting_approval' || phase === 'approval_granted';
  const there = sumOf(taken, (each) => each.amount - each.refundedAmount);
  // If our amount was kept, the dispute counts within it.
  const wanted = isMisjudged ? Math.min(wantedBack(operation), there) : wantedBack(operation);
  return there - (taken.length > 0 ? wanted : 0) - sumOf(paidOut) - (waits ? amount : 0);
}

export const isTaken = new Set<LedgerPayment['status']>(['approved', 'refunded']);

const takenOf = (world: World, operation: OperationOnRecord) =>
  paymentsOf(world, operation).filter(({ status }) => isTaken.has(status));

/** The provider's payments under the operation's order numbers. */
export const paymentsOf = ({ ledger }: World, { attempts, serviceToken }: OperationOnRecord) =>
  ledger.payments.filter(
    ({ orderNumber, token, isStranger }) =>
      !isStranger && (attempts.has(orderNumber) || token === serviceToken),
  );
export const payoutsOf = ({ ledger }: World, { attempts }: OperationOnRecord) =>
  ledger.payouts.filter(({ orderNumber }) => attempts.has(orderNumber));
