/** A team's wish to take, or to let go of, the money that is held for a two-step payment. Idempotent by nature. */
import type { PaymentEvent, PaymentRefusal } from '@tollgate/payment-domain';
import type { Caller, PaymentDocument } from '@tollgate/read-models';
import { windowAt } from '../calls/call-times.ts';
import type { CarryOutPaymentCalls } from '../calls/payment-calls.ts';
import type { Payments } from '../streams/payments.ts';
import type { Cause, Executed } from '../streams/repository.ts';
import { type Awaited, awaitOutcome, lookBriefly } from './await-outcome.ts';
import {
  type NotBegun,
  type OperationDependencies,
  type OperationResult,
  inProgress,
  isPermit,
} from './operation.ts';
import { findOwn } from './own-payment.ts';

export interface EndTwoStepDependencies extends OperationDependencies {
  payments: Payments;
  carryOut: CarryOutPaymentCalls;
}

export interface EndTwoStepInput {
  caller: Caller;
  operation: 'confirm' | 'decline';
  token: string;
  cause: Cause;
}

export type EndTwoStepResult = OperationResult<PaymentDocument, PaymentRefusal>;

/** Decisions that are begun anew because the payment changed meanwhile, at most. */
const triesMax = 4;

export async function endTwoStep(
  deps: EndTwoStepDependencies,
  input: EndTwoStepInput,
): Promise<EndTwoStepResult> {
  const { caller, token, cause } = input;
  const found = await findOwn(deps.payments, caller, token);
  if (found === undefined) return { kind: 'refused', refusal: { code: 'payment_not_found' } };
  const { phase } = found.payment;
  // The customer may have paid a moment ago, and no callback has told us yet.
  if (phase === 'init' || phase === 'pending') await lookBriefly(deps, { token, cause });
  for (let tries = 0; tries < triesMax; tries += 1) {
    const document = (await deps.payments.load(token)) ?? found;
    // Only where money is held is something announced: everything else needs no account to answer.
    const result =
      document.payment.phase === 'held'
        ? await submitHeld(deps, input, document)
        : await submit(deps, input, document);
    if (result.kind === 'moved') continue;
    if (result.kind !== 'done') return result;
    return answer(deps, input, result.events.length === 0);
  }
  return inProgress;
}

/** Submits it under a permit, and makes the call that this announces. */
async function submitHeld(
  deps: EndTwoStepDependencies,
  input: EndTwoStepInput,
  document: PaymentDocument,
): Promise<Submitted | NotBegun> {
  const { environment, attempt } = document.payment;
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

type Submitted = Executed<PaymentDocument, PaymentEvent, PaymentRefusal>;

/** @param only the payment as it must still be: without a permit nothing may be announced */
const submit = (
  { payments, clock, times }: EndTwoStepDependencies,
  { operation, token, cause }: EndTwoStepInput,
  only?: PaymentDocument,
): Promise<Submitted> => {
  const window = windowAt(clock.now(), times);
  return payments.execute(token, { type: 'SubmitTwoStep', operation, window }, cause, only?.revision);
};

/** After a refusal, too, it is looked: the service may refuse what an earlier submission has done already. */
async function answer(
  { payments, calls, look, clock }: EndTwoStepDependencies,
  { token, cause }: EndTwoStepInput,
  replayed: boolean,
): Promise<EndTwoStepResult> {
  const waiting = { load: payments.load, settled: calls.settled, look, clock };
  const document = await awaitOutcome(waiting, { token, cause, awaited });
  return document === undefined ? inProgress : { kind: 'answered', document, replayed };
}

function awaited({ payment: { phase, twoStep } }: PaymentDocument): Awaited {
  if (phase === 'held' && twoStep?.state === 'refused') return { kind: 'look' };
  if (phase !== 'confirming' && phase !== 'declining') return { kind: 'nothing' };
  if (twoStep?.state !== 'submitted') return { kind: 'look' };
  return { kind: 'answer', answerBy: twoStep.answerBy };
}
