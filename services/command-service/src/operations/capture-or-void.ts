/** A team's wish to take, or to let go of, the money that is held for a two-step payment. Idempotent by nature. */
import type { PaymentEvent, PaymentRefusal } from '@tollgate/payment-domain';
import type { Caller } from '@tollgate/teams';
import type { PaymentView } from '@tollgate/views';
import { windowAt } from '../calls/call-times.ts';
import type { CarryOutPaymentCalls } from '../calls/payment-calls.ts';
import type { Payments } from '../streams/payments.ts';
import type { Cause, Executed } from '../streams/repository.ts';
import { type Awaited, awaitOutcome, inquireBriefly } from './await-outcome.ts';
import {
  type NotBegun,
  type OperationDependencies,
  type OperationResult,
  inProgress,
  isPermit,
} from './operation.ts';
import { findOwn } from './own-payment.ts';

export interface EndCaptureOrVoidDependencies extends OperationDependencies {
  payments: Payments;
  carryOut: CarryOutPaymentCalls;
}

export interface EndCaptureOrVoidInput {
  caller: Caller;
  operation: 'confirm' | 'decline';
  token: string;
  cause: Cause;
}

export type EndCaptureOrVoidResult = OperationResult<PaymentView, PaymentRefusal>;

/** Decisions that are begun anew because the payment changed meanwhile, at most. */
const triesMax = 4;

export async function endCaptureOrVoid(
  deps: EndCaptureOrVoidDependencies,
  input: EndCaptureOrVoidInput,
): Promise<EndCaptureOrVoidResult> {
  const { caller, token, cause } = input;
  const found = await findOwn(deps.payments, caller, token);
  if (found === undefined) return { kind: 'refused', refusal: { code: 'payment_not_found' } };
  const { phase } = found.payment;
  // The customer may have paid a moment ago, and no callback has told us yet.
  if (phase === 'init' || phase === 'pending') await inquireBriefly(deps, { token, cause });
  for (let tries = 0; tries < triesMax; tries += 1) {
    const view = (await deps.payments.load(token)) ?? found;
    // Only where money is held is something announced: everything else needs no account to answer.
    const result =
      view.payment.phase === 'authorized'
        ? await submitAuthorized(deps, input, view)
        : await submit(deps, input, view);
    if (result.kind === 'moved') continue;
    if (result.kind !== 'done') return result;
    return answer(deps, input, result.events.length === 0);
  }
  return inProgress;
}

/** Submits it under a permit, and makes the call that this announces. */
async function submitAuthorized(
  deps: EndCaptureOrVoidDependencies,
  input: EndCaptureOrVoidInput,
  view: PaymentView,
): Promise<Submitted | NotBegun> {
  const { environment, attempt } = view.payment;
  const result = await deps.accounts.permitOf(environment, attempt.account);
  if (!isPermit(result)) return result;
  const { permit } = result;
  let isPermitUsed = false;
  try {
    const done = await submit(deps, input);
    isPermitUsed = done.kind === 'done' && done.events.length > 0;
    if (done.kind === 'done' && isPermitUsed) await deps.carryOut(done, permit, input.cause);
    return done;
  } finally {
    if (!isPermitUsed) permit.release('unused');
  }
}

type Submitted = Executed<PaymentView, PaymentEvent, PaymentRefusal>;

/** @param only the payment as it must still be: without a permit nothing may be announced */
const submit = (
  { payments, clock, times }: EndCaptureOrVoidDependencies,
  { operation, token, cause }: EndCaptureOrVoidInput,
  only?: PaymentView,
): Promise<Submitted> => {
  const window = windowAt(clock.now(), times);
  return payments.execute(token, { type: 'SubmitTwoStep', operation, window }, cause, only?.revision);
};

/** After a refusal, too, it is looked: the service may refuse what an earlier submission has done already. */
async function answer(
  { payments, calls, inquire, clock }: EndCaptureOrVoidDependencies,
  { token, cause }: EndCaptureOrVoidInput,
  replayed: boolean,
): Promise<EndCaptureOrVoidResult> {
  const waiting = { load: payments.load, settled: calls.settled, inquire, clock };
  const view = await awaitOutcome(waiting, { token, cause, awaited });
  return view === undefined ? inProgress : { kind: 'answered', view, replayed };
}

function awaited({ payment: { phase, captureOrVoid } }: PaymentView): Awaited {
  if (phase === 'authorized' && captureOrVoid?.state === 'refused') return { kind: 'look' };
  if (phase !== 'capturing' && phase !== 'voiding') return { kind: 'nothing' };
  if (captureOrVoid?.state !== 'submitted') return { kind: 'look' };
  return { kind: 'answer', answerBy: captureOrVoid.answerBy };
}
