/** A team refunds: permit, guard, announce, send, record. The announcement reserves the amount. */
import { notShown } from '@tollgate/event-store';
import type { RefundRequest } from './requests.ts';
import {
  type AcceptedRefund,
  type PaymentRefusal,
  type SubmitRefund,
} from '../domain/payment/payment-commands.ts';
import { type Refund } from '../domain/payment/payment-state.ts';
import { decide } from '../domain/payment/payment-decide.ts';
import { isFinalPhase } from '../domain/payment/payment-machine.ts';
import { isSameRequest } from '../domain/request-fingerprint.ts';
import { showsNoFurtherRefund } from '../domain/payment/refunds.ts';
import { withTermsOf } from '../domain/payment/observation.ts';
import { omitUndefined } from '@tollgate/service-kit';
import type { Requester } from '../domain/requester.ts';
import { windowAt } from '../domain/outbound-call/outbound-call.ts';
import type { Permit } from '../accounts.ts';
import type { PaymentAggregate, PaymentDone, Payments } from '../aggregates/payments.ts';
import type { RefundKeys } from '../aggregates/refund-keys.ts';
import { type Cause, requireDone } from '../aggregates/repository.ts';
import { answersThat } from '../outbound/ask-account.ts';
import { announcedCall, requireServiceToken } from '../outbound/payment-calls.ts';
import { type IdempotencyKey, deriveOperationToken } from '../tokens.ts';
import { type Awaited, awaitOutcome, inquireBriefly, required } from './await-outcome.ts';
import { type GuardRefusal, passGuards } from './guard.ts';
import {
  type NotBegun,
  type OperationDependencies,
  type OperationResult,
  findOwn,
  inProgress,
  refuse,
} from './operation.ts';

export interface RefundPaymentDependencies extends OperationDependencies {
  payments: Payments;
  refundKeys: RefundKeys;
}

export interface RefundPaymentInput {
  caller: Requester;
  key: IdempotencyKey;
  request: RefundRequest;
  cause: Cause;
}

/** A payment, and its requested refund. */
export interface RefundedPayment {
  aggregate: PaymentAggregate;
  refund: Refund;
}

export type RefundPaymentResult = OperationResult<RefundedPayment, PaymentRefusal | GuardRefusal>;

/** Maximum wait for another refund of the same payment. @unit milliseconds */
const turnWaitMs = 5_000;
const turnPauseMs = 50;
/** Retry-After if a payment that is not final here could not be inquired. @unit seconds */
const retryAfterSeconds = 5;

export async function refundPayment(
  deps: RefundPaymentDependencies,
  input: RefundPaymentInput,
): Promise<RefundPaymentResult> {
  const { payments, installation } = deps;
  const { caller, key, request, cause } = input;
  const { environment, team } = caller;
  const paymentToken = request.token;
  const found = await findOwn(payments, caller, paymentToken);
  if (found === undefined) return refuse({ code: 'payment_not_found' });
  const refundToken = deriveOperationToken('ref', { ...caller, installation }, key);
  const fingerprints = deps.fingerprintsOf(request);
  const { fingerprint } = fingerprints;
  // The key may have been used for a refund of another payment, which this stream does not show.
  const use = await deps.refundKeys.claim(
    refundToken,
    { environment, team, paymentToken, fingerprint },
    cause,
  );
  if (!isSameRequest(use, fingerprints)) return refuse({ code: 'idempotency_key_reused' });
  if (refundOf(found, refundToken) !== undefined) return answer(deps, input, refundToken, true);
  const isInquired = (await inquireBriefly(deps, { token: paymentToken, cause })) === 'inquired';
  if (!isInquired && !isFinalPhase(found.payment.phase)) return notInquired(deps, found);
  const { amount, metadata } = request;
  const sumUnknown = isInquired ? undefined : (true as const);
  return refundInTurn(deps, input, {
    type: 'SubmitRefund',
    refundToken,
    askedBy: caller.keyId,
    askedAt: deps.clock.now(),
    ...fingerprints,
    ...omitUndefined({ amount, metadata, sumUnknown }),
  });
}

const refundOf = ({ payment }: PaymentAggregate, refundToken: string): Refund | undefined =>
  payment.refunds.find((refund) => refund.refundToken === refundToken);

/**
 * Inquires before any refund: the customer may have just paid, and a refund may have been made in the provider's own console,
 * which must not be mistaken for ours. Only what is approved here may be refunded without an answer.
 */
function notInquired(
  { accounts }: RefundPaymentDependencies,
  { payment: { environment, attempt } }: PaymentAggregate,
): NotBegun {
  const isConfigured = accounts.inquiriesOf(environment, attempt.account) !== undefined;
  return isConfigured ? { kind: 'unavailable', retryAfterSeconds } : { kind: 'no-account' };
}

type Wanted = Omit<SubmitRefund, 'window'>;

/** Refunds in turn: one refund of a payment is under way at a time. Waiting holds no permit. */
async function refundInTurn(
  deps: RefundPaymentDependencies,
  input: RefundPaymentInput,
  wanted: Wanted,
): Promise<RefundPaymentResult> {
  const { clock, sender } = deps;
  const { token } = input.request;
  const giveUpAt = clock.monotonic() + turnWaitMs;
  for (;;) {
    const result = await refundOnce(deps, input, wanted);
    if (result.kind !== 'refused' || result.refusal.code !== 'operation_in_progress') return result;
    if (clock.monotonic() >= giveUpAt || !(await isAnotherUnderWay(deps, token))) return result;
    await sender.settled(token);
    await clock.sleep(turnPauseMs);
  }
}

/** Permit, guard, announce, send, record. */
async function refundOnce(
  deps: RefundPaymentDependencies,
  input: RefundPaymentInput,
  wanted: Wanted,
): Promise<RefundPaymentResult> {
  const { payments, accounts, guards, clock, times } = deps;
  const { caller, cause, request } = input;
  const { refundToken } = wanted;
  const { payment } = await required(payments, request.token);
  const { terms, environment, attempt } = payment;
  const taken = await accounts.permitOf(environment, attempt.account);
  if (taken.kind !== 'permit') return taken;
  using permit = taken.permit;
  // Before any wait: a command that waits too long is announced, and not sent.
  const asked: SubmitRefund = { ...wanted, window: windowAt(clock.now(), times) };
  const decision = decide(payment, asked);
  if (decision.kind === 'refused') return decision;
  const submitted = decision.events.find((event) => event.type === 'RefundSubmitted');
  // Another request under the same key was faster.
  if (submitted === undefined) {
    permit.release('unused');
    return await answer(deps, input, refundToken, true);
  }
  // With the guarded amount: "all that is left" may be more at the announcement.
  const { amount } = submitted.data;
  const guarded = await passGuards(guards, {
    operation: 'refund',
    caller,
    cause,
    token: refundToken,
    subject: request.token,
    amount,
    currency: terms.currency,
    fingerprint: wanted.fingerprint,
    account: permit.account,
    lapsesAt: asked.window.quietUntil,
    askedAt: wanted.askedAt,
  });
  if (guarded.kind !== 'passed') return guarded.kind === 'refused' ? guarded : inProgress;

  const announced = await payments.execute(request.token, { ...asked, amount }, cause);
  if (announced.kind !== 'done') {
    // "All that is left" has changed meanwhile: the next turn decides again.
    return announced.kind === 'refused' && amount === wanted.amount ? announced : inProgress;
  }
  await deps.sender.track(request.token, sendRefund(deps, announced, permit, cause));
  return await answer(deps, input, refundToken, announced.events.length === 0);
}

/** Makes the announced refund, once, and records its outcome. Resolves at once if nothing was announced. */
async function sendRefund(
  { payments, sender, askAccount }: RefundPaymentDependencies,
  announced: PaymentDone,
  permit: Permit,
  cause: Cause,
): Promise<void> {
  const call = announcedCall(announced, 'refund');
  if (call === undefined) return;
  const { operation, window, refundToken, amount } = call;
  const { token, payment } = announced.aggregate;
  const { environment, attempt } = payment;
  const serviceToken = requireServiceToken(payment.serviceToken);
  const outcome = await sender.send<AcceptedRefund>({
    announced,
    operation,
    window,
    permit,
    // Always with the amount: "all that is left" is decided here, and must not be decided again elsewhere.
    send: (provider, maySend) => provider.refund({ serviceToken, amount }, maySend),
    hasNoEffect: async () =>
      answersThat(
        await askAccount({ environment, account: attempt.account }, cause, (provider) =>
          provider.inquirePayment(serviceToken),
        ),
        ({ observed }) => showsNoFurtherRefund(payment, withTermsOf(payment, observed)),
      ),
  });
  requireDone(await payments.execute(token, { type: 'RecordRefundOutcome', refundToken, outcome }, cause));
}

/** False if the other one's outcome is unknown: that takes longer than a caller waits. */
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
  { request: { token }, cause }: RefundPaymentInput,
  refundToken: string,
  replayed: boolean,
): Promise<RefundPaymentResult> {
  const awaited = (each: PaymentAggregate) => awaitedOf(refundOf(each, refundToken));
  const aggregate = await awaitOutcome(deps, { repository: deps.payments, token, cause, awaited });
  if (aggregate === undefined) return inProgress;
  const refund = refundOf(aggregate, refundToken);
  if (refund === undefined) throw notShown(token);
  return { kind: 'answered', aggregate: { aggregate, refund }, replayed };
}

function awaitedOf(refund: Refund | undefined): Awaited {
  if (refund?.state === 'submitted') return { kind: 'answer', window: refund };
  return refund?.state === 'unresolved' ? { kind: 'inquiry' } : { kind: 'nothing' };
}
