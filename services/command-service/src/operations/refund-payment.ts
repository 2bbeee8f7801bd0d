/** A team gives money back: reserved and announced in one step, called, recorded, answered. */
import { notShown } from '@tollgate/event-store';
import type { RefundRequest } from '@tollgate/gateway-api/http';
import {
  type Metadata,
  type PaymentRefusal,
  type PaymentTerms,
  type Refund,
  type RequestFingerprints,
  type SubmitRefund,
  decide,
  isFinalPhase,
  isSameRequest,
} from '@tollgate/payment-domain';
import { omitUndefined } from '@tollgate/service-kit';
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
    ...omitUndefined({ amount: request.amount, metadata: request.metadata }),
  };
  if (refundOf(found, refundToken) !== undefined) return answer(deps, wanted, cause, true);
  const inquired = await inquireBriefly(deps, { token: paymentToken, cause });
  const notBegun = inquired !== 'inquired' ? notBegunUninquired(deps, found) : undefined;
  if (notBegun !== undefined) return notBegun;
  return submitInTurn(
    deps,
    input,
    { ...wanted, ...(inquired !== 'inquired' && { sumUnknown: true }) },
    found,
  );
}

interface Wanted {
  refundToken: string;
  fingerprints: RequestFingerprints;
  paymentToken: string;
  amount?: number;
  metadata?: Metadata;
  sumUnknown?: true;
}

const refundOf = ({ payment }: PaymentAggregate, refundToken: string): Refund | undefined =>
  payment.refunds.find((refund) => refund.refundToken === refundToken);

/**
 * An inquiry is made before anything is refunded: the customer may have paid a moment ago, and a refund may have been made in
 * the provider's own console, which must be known before what the provider shows is taken for ours.
 *
 * @returns why it ends here where nobody was asked, or answered, if it does; what is approved here may still be refunded
 */
function notBegunUninquired(
  { accounts }: RefundPaymentDependencies,
  { payment: { phase, environment, attempt } }: PaymentAggregate,
): NotBegun | undefined {
  if (isFinalPhase(phase)) return undefined;
  const isConfigured = accounts.inquiriesOf(environment, attempt.account) !== undefined;
  return isConfigured ? { kind: 'unavailable', retryAfterSeconds } : { kind: 'no-account' };
}

/** Submits it when it is its turn: one refund of a payment is under way at a time. Waiting holds no permit. */
async function submitInTurn(
  deps: RefundPaymentDependencies,
  input: RefundPaymentInput,
  wanted: Wanted,
  found: PaymentAggregate,
): Promise<RefundPaymentResult> {
  const { clock, sender } = deps;
  const giveUpAt = clock.monotonic() + turnWaitMs;
  for (;;) {
    const result = await submit(deps, input, wanted, found);
    if (result.kind !== 'refused' || result.refusal.code !== 'operation_in_progress') return result;
    const { paymentToken } = wanted;
    if (clock.monotonic() >= giveUpAt || !(await isAnotherUnderWay(deps, paymentToken))) return result;
    await sender.settled(paymentToken);
    await clock.sleep(turnPauseMs);
  }
}

async function submit(
  deps: RefundPaymentDependencies,
  input: RefundPaymentInput,
  wanted: Wanted,
  { payment }: PaymentAggregate,
): Promise<RefundPaymentResult> {
  const result = await deps.accounts.permitOf(payment.environment, payment.attempt.account);
  if (result.kind !== 'permit') return result;
  using permit = result.permit;
  const { cause } = input;
  const { paymentToken } = wanted;
  const reserved = await reserve(deps, input, payment.terms, toCommand(deps, wanted));
  if (reserved.kind === 'refused') return reserved;
  const { command, giveBack } = reserved;
  const announced = await deps.payments.execute(paymentToken, command, cause);
  if (announced.kind === 'moved') return inProgress;
  if (announced.kind === 'refused') {
    await giveBack?.();
    // Of "all that is left", another amount is left by now: the next turn decides again.
    return command.amount === wanted.amount ? announced : inProgress;
  }
  await deps.sendPaymentCalls(announced, permit, cause);
  return await answer(deps, wanted, cause, announced.events.length === 0);
}

/** Made before anything waits: what has waited too long by then is announced, and not sent. */
function toCommand({ clock, times }: RefundPaymentDependencies, wanted: Wanted): SubmitRefund {
  const { refundToken, fingerprints, amount, metadata, sumUnknown } = wanted;
  const window = windowAt(clock.now(), times);
  return {
    ...{ type: 'SubmitRefund', refundToken, ...fingerprints, window },
    ...omitUndefined({ amount, metadata, sumUnknown }),
  };
}

interface Reserved {
  kind: 'reserved';
  /** With the amount that is reserved: what is left may be more when it is carried out. */
  command: SubmitRefund;
  giveBack?: () => Promise<void>;
}

/** Reserves what a limited team is about to refund, until the call cannot be sent any more. What is refused reserves nothing. */
async function reserve(
  { spending, payments }: RefundPaymentDependencies,
  { caller, cause, request: { token: subject } }: RefundPaymentInput,
  { currency }: PaymentTerms,
  command: SubmitRefund,
): Promise<Reserved | { kind: 'refused'; refusal: PaymentRefusal | LimitRefusal }> {
  const operation = 'refund';
  if (!spending.isLimited(caller, operation, currency)) return { kind: 'reserved', command };
  const decision = decide((await payments.load(subject))?.payment, command);
  if (decision.kind === 'refused') return decision;
  const submitted = decision.events.find((event) => event.type === 'RefundSubmitted');
  if (submitted === undefined) return { kind: 'reserved', command };
  const { amount, refundToken: token, quietUntil: lapsesAt } = submitted.data;
  const wanted = { operation, currency, token, subject, amount, lapsesAt } as const;
  const reserved = await spending.reserve(caller, wanted, cause);
  return reserved.kind === 'refused' ? reserved : { ...reserved, command: { ...command, amount } };
}

/** False where the other one's outcome is unknown: that takes longer than a caller waits. */
async function isAnotherUnderWay(
  { payments, quietPeriods }: RefundPaymentDependencies,
  token: string,
): Promise<boolean> {
  const aggregate = await payments.load(token);
  const others = aggregate?.payment.refunds ?? [];
  return !others.some(
    (refund) =>
      refund.state === 'unresolved' ||
      refund.state === 'accepted' ||
      (refund.state === 'submitted' && quietPeriods.inquiryTime(token, refund) >= refund.answerBy),
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
