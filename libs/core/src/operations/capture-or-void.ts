/** A team captures or voids the authorized money of a payment. Idempotent by nature. */
import { type PaymentRefusal } from '../domain/payment/payment-commands.ts';
import { isPaymentAwaited } from '../domain/payment/payment-state.ts';
import type { Requester } from '../domain/requester.ts';
import { windowAt } from '../domain/outbound-call/outbound-call.ts';
import type { PaymentAggregate } from '../aggregates/payments.ts';
import type { Cause } from '../aggregates/repository.ts';
import { type PaymentCallsDependencies, captureOrVoidOnce } from '../outbound/payment-calls.ts';
import { type Awaited, awaitOutcome, inquireBriefly } from './await-outcome.ts';
import {
  type OperationDependencies,
  type OperationResult,
  findOwn,
  inProgress,
  refuse,
} from './operation.ts';

export type CaptureOrVoidDependencies = OperationDependencies & PaymentCallsDependencies;

export interface CaptureOrVoidInput {
  caller: Requester;
  operation: 'capture' | 'void';
  token: string;
  cause: Cause;
}

export type CaptureOrVoidResult = OperationResult<PaymentAggregate, PaymentRefusal>;

/** Maximum repeated decisions after concurrent changes. */
const triesMax = 4;
/** Retry-After if the payment could not be inquired. @unit seconds */
const retryAfterSeconds = 2;

export async function captureOrVoid(
  deps: CaptureOrVoidDependencies,
  input: CaptureOrVoidInput,
): Promise<CaptureOrVoidResult> {
  const { payments, accounts, clock, times } = deps;
  const { caller, operation, token, cause } = input;
  const found = await findOwn(payments, caller, token);
  if (found === undefined) return refuse({ code: 'payment_not_found' });
  const { phase, environment, attempt } = found.payment;
  // The customer may have just paid, with the callback still on its way.
  const mayBePaid = phase === 'init' || phase === 'pending' || isPaymentAwaited(found.payment);
  const isKnown = !mayBePaid || (await inquireBriefly(deps, { token, cause })) === 'inquired';

  for (let tries = 0; tries < triesMax; tries += 1) {
    const { payment, revision } = (await payments.load(token)) ?? found;
    // A call is announced only if money is authorized: all other answers need no account.
    const isCalled = payment.phase === 'authorized';
    const taken = isCalled ? await accounts.permitOf(environment, attempt.account) : undefined;
    if (taken !== undefined && taken.kind !== 'permit') return taken;
    using permit = taken?.permit;
    const command = { type: 'SubmitCaptureOrVoid', operation, window: windowAt(clock.now(), times) } as const;
    const announced = await payments.execute(token, command, cause, isCalled ? {} : { onlyAt: revision });
    if (announced.kind === 'moved') continue;
    if (announced.kind === 'refused') {
      // The money may be authorized, so a refusal would mislead the caller.
      if (!isKnown) return { kind: 'unavailable', retryAfterSeconds };
      // It is also unknown whether the provider has the payment.
      return isPaymentAwaited(payment) ? inProgress : announced;
    }
    if (permit !== undefined) await captureOrVoidOnce(deps, announced, permit, cause);
    permit?.release('unused');
    // Even a refused call is inquired: an earlier submission may already have taken effect.
    const answer = await awaitOutcome(deps, { repository: payments, token, cause, awaited });
    if (answer === undefined) return inProgress;
    return { kind: 'answered', aggregate: answer, replayed: announced.events.length === 0 };
  }
  return inProgress;
}

function awaited({ payment: { phase, captureOrVoid: call } }: PaymentAggregate): Awaited {
  if (phase === 'authorized' && call?.state === 'refused') return { kind: 'inquiry' };
  if (phase !== 'capturing' && phase !== 'voiding') return { kind: 'nothing' };
  return call?.state === 'submitted' ? { kind: 'answer', window: call } : { kind: 'inquiry' };
}
