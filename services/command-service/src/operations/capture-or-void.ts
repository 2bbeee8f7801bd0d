/** A team captures or voids the authorized money of a payment. Idempotent by nature. */
import { type PaymentEvent, type PaymentRefusal, isPaymentAwaited } from '@tollgate/payment-domain';
import type { Caller } from '@tollgate/teams';
import type { PaymentAggregate, Payments } from '../aggregates/payments.ts';
import type { Cause, Executed } from '../aggregates/repository.ts';
import { windowAt } from '../outbound/call-times.ts';
import type { SendPaymentCalls } from '../outbound/payment-calls.ts';
import { type Awaited, awaitOutcome, inquireBriefly } from './await-outcome.ts';
import { type NotBegun, type OperationDependencies, type OperationResult, inProgress } from './operation.ts';
import { findOwn } from './own-payment.ts';

export interface CaptureOrVoidDependencies extends OperationDependencies {
  payments: Payments;
  sendPaymentCalls: SendPaymentCalls;
}

export interface CaptureOrVoidInput {
  caller: Caller;
  operation: 'capture' | 'void';
  token: string;
  cause: Cause;
}

export type CaptureOrVoidResult = OperationResult<PaymentAggregate, PaymentRefusal>;

/** Decisions that are taken again because the payment changed meanwhile, at most. */
const triesMax = 4;
/** When a caller whose payment could not be inquired asks again. */
const retryAfterSeconds = 2;

export async function captureOrVoid(
  deps: CaptureOrVoidDependencies,
  input: CaptureOrVoidInput,
): Promise<CaptureOrVoidResult> {
  const { caller, token, cause } = input;
  const found = await findOwn(deps.payments, caller, token);
  if (found === undefined) return { kind: 'refused', refusal: { code: 'payment_not_found' } };
  const { phase } = found.payment;
  // The customer may have paid a moment ago, and no callback has come yet.
  const mayBePaid = phase === 'init' || phase === 'pending' || isPaymentAwaited(found.payment);
  const isKnown = !mayBePaid || (await inquireBriefly(deps, { token, cause })) === 'inquired';
  for (let tries = 0; tries < triesMax; tries += 1) {
    const aggregate = (await deps.payments.load(token)) ?? found;
    // Only of authorized money is something announced: everything else is answered without an account.
    const result =
      aggregate.payment.phase === 'authorized'
        ? await submitUnderPermit(deps, input, aggregate)
        : await submit(deps, input, aggregate);
    if (result.kind === 'moved') continue;
    // A refusal would be taken for the truth, while the money may be authorized.
    if (result.kind === 'refused' && !isKnown) return { kind: 'unavailable', retryAfterSeconds };
    // So it is where nobody knows yet whether the service has the payment.
    if (result.kind === 'refused' && isPaymentAwaited(aggregate.payment)) return inProgress;
    if (result.kind !== 'done') return result;
    return answer(deps, input, result.events.length === 0);
  }
  return inProgress;
}

type Submitted = Executed<PaymentAggregate, PaymentEvent, PaymentRefusal>;

/** Submits it, and makes the call that this announces. */
async function submitUnderPermit(
  deps: CaptureOrVoidDependencies,
  input: CaptureOrVoidInput,
  { payment: { environment, attempt } }: PaymentAggregate,
): Promise<Submitted | NotBegun> {
  const result = await deps.accounts.permitOf(environment, attempt.account);
  if (result.kind !== 'permit') return result;
  using permit = result.permit;
  const submitted = await submit(deps, input);
  if (submitted.kind === 'done') await deps.sendPaymentCalls(submitted, permit, input.cause);
  return submitted;
}

/** @param only the payment as it must still be: without a permit nothing may be announced */
const submit = (
  { payments, clock, times }: CaptureOrVoidDependencies,
  { operation, token, cause }: CaptureOrVoidInput,
  only?: PaymentAggregate,
): Promise<Submitted> => {
  const window = windowAt(clock.now(), times);
  const command = { type: 'SubmitCaptureOrVoid', operation, window } as const;
  return payments.execute(token, command, cause, { onlyAt: only?.revision });
};

/** Also after a refusal the provider is asked: it may refuse what an earlier submission has done already. */
async function answer(
  deps: CaptureOrVoidDependencies,
  { token, cause }: CaptureOrVoidInput,
  replayed: boolean,
): Promise<CaptureOrVoidResult> {
  const aggregate = await awaitOutcome(deps, deps.payments, { token, cause, awaited });
  return aggregate === undefined ? inProgress : { kind: 'answered', aggregate, replayed };
}

function awaited({ payment: { phase, captureOrVoid: call } }: PaymentAggregate): Awaited {
  if (phase === 'authorized' && call?.state === 'refused') return { kind: 'inquiry' };
  if (phase !== 'capturing' && phase !== 'voiding') return { kind: 'nothing' };
  return call?.state === 'submitted' ? { kind: 'answer', window: call } : { kind: 'inquiry' };
}
