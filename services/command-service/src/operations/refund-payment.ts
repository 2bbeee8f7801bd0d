/** A team's wish to give money back: reserved and announced in one step, called, recorded, answered. */
import { type PaymentRefusal, type Refund, isFinalPhase } from '@tollgate/payment-domain';
import type { RefundRequest } from '@tollgate/payment-api';
import type { Caller } from '@tollgate/teams';
import type { PaymentView } from '@tollgate/views';
import { given } from '@tollgate/service-kit';
import { windowAt } from '../calls/call-times.ts';
import type { CarryOutPaymentCalls } from '../calls/payment-calls.ts';
import type { PaymentDone, Payments } from '../streams/payments.ts';
import type { RefundKeys } from '../streams/refund-keys.ts';
import type { Cause } from '../streams/repository.ts';
import { type IdempotencyKey, deriveOperationToken, fingerprintOf } from '../tokens.ts';
import { type Awaited, awaitOutcome, inquireBriefly } from './await-outcome.ts';
import {
  type NotBegun,
  type OperationDependencies,
  type OperationResult,
  inProgress,
  isPermit,
} from './operation.ts';
import { findOwn } from './own-payment.ts';

export interface RefundPaymentDependencies extends OperationDependencies {
  payments: Payments;
  refundKeys: RefundKeys;
  carryOut: CarryOutPaymentCalls;
}

export interface RefundPaymentInput {
  caller: Caller;
  key: IdempotencyKey;
  request: RefundRequest;
  cause: Cause;
}

/** A payment and the refund of it that was asked for. */
export interface RefundedPayment {
  view: PaymentView;
  refund: Refund;
}

export type RefundPaymentResult = OperationResult<RefundedPayment, PaymentRefusal>;

/** How long a refund waits for one of the same payment that is under way, milliseconds. */
const turnWaitMs = 5_000;
const turnPauseMs = 50;
/** When asking again may help where a payment that is not final here could not be looked at. */
const retryAfterSeconds = 5;

export async function refundPayment(
  deps: RefundPaymentDependencies,
  input: RefundPaymentInput,
): Promise<RefundPaymentResult> {
  const { caller, key, request, cause } = input;
  const { environment, team } = caller;
  const paymentToken = request.token;
  const found = await findOwn(deps.payments, caller, paymentToken);
  if (found === undefined) return { kind: 'refused', refusal: { code: 'payment_not_found' } };
  const refundToken = deriveOperationToken('ref', caller, key);
  const fingerprint = fingerprintOf(request);
  // The key may have been used for a refund of another payment, which this payment's stream cannot tell.
  const use = await deps.refundKeys.claim(
    refundToken,
    { environment, team, paymentToken, fingerprint },
    cause,
  );
  if (use.fingerprint !== fingerprint)
    return { kind: 'refused', refusal: { code: 'idempotency_key_reused' } };
  const wanted = { refundToken, fingerprint, paymentToken, ...given({ amount: request.amount }) };
  if (refundOf(found, refundToken) !== undefined) return answer(deps, wanted, cause, true);
  return (await inquireBefore(deps, wanted, cause, found)) ?? submitInTurn(deps, wanted, cause, found);
}

interface Wanted {
  refundToken: string;
  fingerprint: string;
  paymentToken: string;
  amount?: number;
}

const refundOf = ({ payment }: PaymentView, refundToken: string): Refund | undefined =>
  payment.refunds.find((refund) => refund.refundToken === refundToken);

/**
 * Looks before anything is given back: the customer may have paid a moment ago, and a refund may have been made in the
 * service's own console, which must be known before what the service shows is taken for ours.
 *
 * @returns why it ends here, if it does; where nobody can look, what is approved here may still be refunded
 */
async function inquireBefore(
  deps: RefundPaymentDependencies,
  { paymentToken }: Wanted,
  cause: Cause,
  { payment }: PaymentView,
): Promise<NotBegun | undefined> {
  const inquired = await inquireBriefly(deps, { token: paymentToken, cause });
  if (inquired !== 'failed' || isFinalPhase(payment.phase)) return undefined;
  const { environment, attempt } = payment;
  const isConfigured = deps.accounts.clientOf(environment, attempt.account) !== undefined;
  return isConfigured ? { kind: 'unavailable', retryAfterSeconds } : { kind: 'no-account' };
}

/** Submits it as soon as it is its turn: one refund of a payment is under way at a time. Who waits holds no permit. */
async function submitInTurn(
  deps: RefundPaymentDependencies,
  wanted: Wanted,
  cause: Cause,
  found: PaymentView,
): Promise<RefundPaymentResult> {
  const { clock, calls } = deps;
  const giveUpAt = clock.monotonic() + turnWaitMs;
  for (;;) {
    const result = await submit(deps, wanted, cause, found);
    if (result.kind !== 'refused' || result.refusal.code !== 'operation_in_progress') return result;
    const { paymentToken } = wanted;
    if (clock.monotonic() >= giveUpAt || !(await isAnotherUnderWay(deps, paymentToken))) return result;
    await calls.settled(paymentToken);
    await clock.sleep(turnPauseMs);
  }
}

async function submit(
  deps: RefundPaymentDependencies,
  wanted: Wanted,
  cause: Cause,
  { payment }: PaymentView,
): Promise<RefundPaymentResult> {
  const result = await deps.accounts.permitOf(payment.environment, payment.attempt.account);
  if (!isPermit(result)) return result;
  const { permit } = result;
  const done = await announce(deps, wanted, cause).catch((error: unknown) => {
    permit.release('unused');
    throw error;
  });
  if (done.kind === 'refused' || done.events.length === 0) permit.release('unused');
  if (done.kind === 'refused') return done;
  if (done.events.length === 0) return answer(deps, wanted, cause, true);
  await deps.carryOut(done, permit, cause);
  return answer(deps, wanted, cause, false);
}

async function announce(
  { payments, clock, times }: RefundPaymentDependencies,
  { refundToken, fingerprint, paymentToken, amount }: Wanted,
  cause: Cause,
): Promise<PaymentDone | Extract<RefundPaymentResult, { kind: 'refused' }>> {
  const window = windowAt(clock.now(), times);
  const terms = { refundToken, fingerprint, window, ...given({ amount }) };
  const executed = await payments.execute(paymentToken, { type: 'SubmitRefund', ...terms }, cause);
  return executed.kind === 'moved' ? inProgress : executed;
}

/** False where the other one's outcome is not known: that takes longer than a caller waits. */
async function isAnotherUnderWay(
  { payments, clock }: RefundPaymentDependencies,
  token: string,
): Promise<boolean> {
  const view = await payments.load(token);
  const others = view?.payment.refunds ?? [];
  return !others.some(
    ({ state, answerBy }) =>
      state === 'unresolved' || state === 'accepted' || (state === 'submitted' && clock.now() >= answerBy),
  );
}

async function answer(
  { payments, calls, inquire, clock }: RefundPaymentDependencies,
  { refundToken, paymentToken }: Wanted,
  cause: Cause,
  replayed: boolean,
): Promise<RefundPaymentResult> {
  const waiting = { load: payments.load, settled: calls.settled, inquire, clock };
  const awaited = (each: PaymentView) => awaitedOf(refundOf(each, refundToken));
  const view = await awaitOutcome(waiting, { token: paymentToken, cause, awaited });
  if (view === undefined) return inProgress;
  const refund = refundOf(view, refundToken);
  if (refund === undefined) throw new RangeError(`refund ${refundToken} was there and is gone`);
  return { kind: 'answered', view: { view, refund }, replayed };
}

function awaitedOf(refund: Refund | undefined): Awaited {
  if (refund?.state === 'submitted') return { kind: 'answer', answerBy: refund.answerBy };
  return refund?.state === 'unresolved' ? { kind: 'look' } : { kind: 'nothing' };
}
