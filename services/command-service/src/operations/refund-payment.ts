/** A team gives money back: reserved and announced in one step, called, recorded, answered. */
import { notShown } from '@tollgate/event-store';
import type { RefundRequest } from '@tollgate/gateway-api/http';
import {
  type Metadata,
  type PaymentRefusal,
  type Refund,
  type RequestFingerprints,
  isFinalPhase,
  isSameRequest,
  refundableAmount,
} from '@tollgate/payment-domain';
import { given } from '@tollgate/service-kit';
import type { Caller } from '@tollgate/teams';
import type { PaymentAggregate, Payments } from '../aggregates/payments.ts';
import type { RefundKeys } from '../aggregates/refund-keys.ts';
import type { Cause } from '../aggregates/repository.ts';
import type { LimitRefusal, Spending } from '../limits/spending.ts';
import { windowAt } from '../outbound/call-times.ts';
import type { SendPaymentCalls } from '../outbound/payment-calls.ts';
import { type IdempotencyKey, deriveOperationToken } from '../tokens.ts';
import { type Awaited, awaitOutcome, inquireBriefly } from './await-outcome.ts';
import { type NotBegun, type OperationDependencies, type OperationResult, inProgress } from './operation.ts';
import { findOwn } from './own-payment.ts';

export interface RefundPaymentDependencies extends OperationDependencies {
  payments: Payments;
  refundKeys: RefundKeys;
  spending: Spending;
  sendPaymentCalls: SendPaymentCalls;
}

export interface RefundPaymentInput {
  caller: Caller;
  key: IdempotencyKey;
  request: RefundRequest;
  cause: Cause;
}

/** A payment, and the refund of it that was asked for. */
export interface RefundedPayment {
  aggregate: PaymentAggregate;
  refund: Refund;
}

export type RefundPaymentResult = OperationResult<RefundedPayment, PaymentRefusal | LimitRefusal>;

/** How long a refund waits for one of the same payment that is under way, milliseconds. */
const turnWaitMs = 5_000;
const turnPauseMs = 50;
/** When asking again may help where a payment that is not final here could not be inquired, seconds. */
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
  const refundToken = deriveOperationToken('ref', { ...caller, installation: deps.installation }, key);
  const fingerprints = deps.fingerprintsOf(request);
  // The key may have been used for a refund of another payment, which this payment's stream does not show.
  const use = await deps.refundKeys.claim(
    refundToken,
    { environment, team, paymentToken, fingerprint: fingerprints.fingerprint },
    cause,
  );
  if (!isSameRequest(use, fingerprints))
    return { kind: 'refused', refusal: { code: 'idempotency_key_reused' } };
  const wanted = {
    refundToken,
    fingerprints,
    paymentToken,
    ...given({ amount: request.amount, metadata: request.metadata }),
  };
  if (refundOf(found, refundToken) !== undefined) return answer(deps, wanted, cause, true);
  const notBegun = await inquireBefore(deps, wanted, cause, found);
  if (notBegun !== undefined) return notBegun;
  const reserved = await reserveRefund(deps, input, wanted, found);
  if ('code' in reserved) return { kind: 'refused', refusal: reserved };
  return submitInTurn(deps, reserved, cause, found);
}

/** Of a limited team with the amount that it is for, also where all that is left is asked for. */
async function reserveRefund(
  { spending, payments, clock, times }: RefundPaymentDependencies,
  { caller, cause }: RefundPaymentInput,
  wanted: Wanted,
  found: PaymentAggregate,
): Promise<Wanted | LimitRefusal> {
  const { currency } = found.payment.terms;
  const operation = 'refund';
  if (!spending.isLimited(caller, operation, currency)) return wanted;
  const { refundToken: token, paymentToken: subject } = wanted;
  const { payment } = (await payments.load(subject)) ?? found;
  const amount = wanted.amount ?? refundableAmount(payment);
  // The decision says why there is none.
  if (amount < 1) return wanted;
  const { quietUntil: lapsesAt } = windowAt(clock.now() + turnWaitMs, times);
  const reserved = await spending.reserve(
    caller,
    { operation, currency, token, subject, amount, lapsesAt },
    cause,
  );
  return reserved.kind === 'refused' ? reserved.refusal : { ...wanted, amount };
}

interface Wanted {
  refundToken: string;
  fingerprints: RequestFingerprints;
  paymentToken: string;
  amount?: number;
  metadata?: Metadata;
}

const refundOf = ({ payment }: PaymentAggregate, refundToken: string): Refund | undefined =>
  payment.refunds.find((refund) => refund.refundToken === refundToken);

/**
 * Inquires before anything is refunded: the customer may have paid a moment ago, and a refund may have been made in the
 * provider's own console, which must be known before what the provider shows is taken for ours.
 *
 * @returns why it ends here, if it does; where nobody answers, what is approved here may still be refunded
 */
async function inquireBefore(
  deps: RefundPaymentDependencies,
  { paymentToken }: Wanted,
  cause: Cause,
  { payment }: PaymentAggregate,
): Promise<NotBegun | undefined> {
  const inquired = await inquireBriefly(deps, { token: paymentToken, cause });
  if (inquired !== 'failed' || isFinalPhase(payment.phase)) return undefined;
  const { environment, attempt } = payment;
  const isConfigured = deps.accounts.inquiriesOf(environment, attempt.account) !== undefined;
  return isConfigured ? { kind: 'unavailable', retryAfterSeconds } : { kind: 'no-account' };
}

/** Submits it when it is its turn: one refund of a payment is under way at a time. Waiting holds no permit. */
async function submitInTurn(
  deps: RefundPaymentDependencies,
  wanted: Wanted,
  cause: Cause,
  found: PaymentAggregate,
): Promise<RefundPaymentResult> {
  const { clock, sender } = deps;
  const giveUpAt = clock.monotonic() + turnWaitMs;
  for (;;) {
    const result = await submit(deps, wanted, cause, found);
    if (result.kind !== 'refused' || result.refusal.code !== 'operation_in_progress') return result;
    const { paymentToken } = wanted;
    if (clock.monotonic() >= giveUpAt || !(await isAnotherUnderWay(deps, paymentToken))) return result;
    await sender.settled(paymentToken);
    await clock.sleep(turnPauseMs);
  }
}

async function submit(
  deps: RefundPaymentDependencies,
  wanted: Wanted,
  cause: Cause,
  { payment }: PaymentAggregate,
): Promise<RefundPaymentResult> {
  const result = await deps.accounts.permitOf(payment.environment, payment.attempt.account);
  if (result.kind !== 'permit') return result;
  using permit = result.permit;
  const { refundToken, fingerprints, paymentToken, amount, metadata } = wanted;
  const window = windowAt(deps.clock.now(), deps.times);
  const announced = await deps.payments.execute(
    paymentToken,
    { type: 'SubmitRefund', refundToken, ...fingerprints, window, ...given({ amount, metadata }) },
    cause,
  );
  if (announced.kind === 'moved') return inProgress;
  if (announced.kind === 'refused') return announced;
  await deps.sendPaymentCalls(announced, permit, cause);
  return await answer(deps, wanted, cause, announced.events.length === 0);
}

/** False where the other one's outcome is unknown: that takes longer than a caller waits. */
async function isAnotherUnderWay(
  { payments, windowClock }: RefundPaymentDependencies,
  token: string,
): Promise<boolean> {
  const aggregate = await payments.load(token);
  const others = aggregate?.payment.refunds ?? [];
  return !others.some(
    (refund) =>
      refund.state === 'unresolved' ||
      refund.state === 'accepted' ||
      (refund.state === 'submitted' && windowClock.nowFor(token, refund) >= refund.answerBy),
  );
}

async function answer(
  deps: RefundPaymentDependencies,
  { refundToken, paymentToken }: Wanted,
  cause: Cause,
  replayed: boolean,
): Promise<RefundPaymentResult> {
  const awaited = (each: PaymentAggregate) => awaitedOf(refundOf(each, refundToken));
  const aggregate = await awaitOutcome(deps, deps.payments, { token: paymentToken, cause, awaited });
  if (aggregate === undefined) return inProgress;
  const refund = refundOf(aggregate, refundToken);
  if (refund === undefined) throw notShown(paymentToken);
  return { kind: 'answered', aggregate: { aggregate, refund }, replayed };
}

function awaitedOf(refund: Refund | undefined): Awaited {
  if (refund?.state === 'submitted') return { kind: 'answer', window: refund };
  return refund?.state === 'unresolved' ? { kind: 'inquiry' } : { kind: 'nothing' };
}
