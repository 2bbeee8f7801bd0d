/** Finds out what the Payment Service says about a payment, and records what is new. Looking changes nothing there. */
import type { ApiError } from '@tollgate/payment-api';
import type { PaymentCommand } from '@tollgate/payment-domain';
import type { PaymentDocument } from '@tollgate/read-models';
import type { Clock, Log } from '@tollgate/service-kit';
import type { Account, CallTimes } from './account.ts';
import { type CreationCalls, planNextAttempt } from './creation-call.ts';
import type { Cause, Payments } from './payments.ts';
import { fromServicePayment } from './provider-mapping.ts';

export interface LookDependencies {
  payments: Payments;
  account: Account;
  times: CallTimes;
  calls: CreationCalls;
  clock: Clock;
  log: Log;
}

/**
 * How a look ended: `looked` (what the service says is recorded), `awaiting-answer` (the call that creates the payment may
 * still be answered, which tells more), `no-payment` (the token is not ours), `failed` (the service gave no usable answer).
 */
export type LookResult = 'looked' | 'awaiting-answer' | 'no-payment' | 'failed';

/** Looks at one payment. A further attempt that the look leads to is sent before this resolves. */
export async function look(deps: LookDependencies, token: string, cause: Cause): Promise<LookResult> {
  const document = await deps.payments.load(token);
  if (document === undefined) return 'no-payment';
  const { phase, attempt, serviceToken } = document.payment;
  const lookedAt = deps.clock.now();
  if (phase === 'requested' && lookedAt < attempt.answerBy) return 'awaiting-answer';
  const isAwaited = phase === 'requested' || phase === 'unresolved';
  // A failed payment too: what is found of it after all is a person's business.
  const command =
    isAwaited || serviceToken === undefined
      ? await seekAttempt(deps, document, lookedAt)
      : await retrieve(deps, document, serviceToken);
  if (command === undefined) return 'failed';
  const executed = await deps.payments.execute(token, command, cause);
  if (executed.kind === 'refused') throw new Error(`a recorded fact was refused: ${executed.refusal.code}`);
  if (executed.events.some(({ type }) => type === 'AttemptStarted'))
    await deps.calls.send(executed.document, cause);
  return 'looked';
}

async function seekAttempt(
  deps: LookDependencies,
  { token, payment }: PaymentDocument,
  lookedAt: number,
): Promise<PaymentCommand | undefined> {
  const { number, providerOrderNumber } = payment.attempt;
  const outcome = await deps.account.client.listPayments({ orderNumber: providerOrderNumber });
  logLook(deps, token, 'list', outcome.kind);
  if (outcome.kind !== 'accepted') return undefined;
  const found = outcome.answer.map(fromServicePayment);
  const { account, times, clock } = deps;
  const nextAttempt = planNextAttempt(token, payment, { account: account.name, now: clock.now(), times });
  const command = { type: 'RecordLookup' as const, attemptNumber: number, found, lookedAt };
  return nextAttempt === undefined ? command : { ...command, nextAttempt };
}

/**
 * Looks at a payment of the service that a callback names and that is not the one we know: an attempt that was given up
 * and took effect after all, perhaps. If it is one of this payment's attempts, a person is called.
 */
export async function lookForSecondPayment(
  deps: LookDependencies,
  token: string,
  serviceToken: string,
  cause: Cause,
): Promise<LookResult> {
  const document = await deps.payments.load(token);
  if (document === undefined) return 'no-payment';
  if (document.payment.serviceToken === serviceToken) return 'looked';
  const outcome = await deps.account.client.retrievePayment(serviceToken);
  logLook(deps, token, 'retrieve', outcome.kind);
  if (outcome.kind === 'refused' && isNotFound(outcome.errors)) return 'looked';
  if (outcome.kind !== 'accepted') return 'failed';
  if (outcome.answer.orderNumber?.startsWith(`${token}.`) !== true) return 'looked';
  await deps.payments.execute(
    token,
    { type: 'RecordObservation', observed: fromServicePayment(outcome.answer) },
    cause,
  );
  return 'looked';
}

async function retrieve(
  deps: LookDependencies,
  { token }: PaymentDocument,
  serviceToken: string,
): Promise<PaymentCommand | undefined> {
  const outcome = await deps.account.client.retrievePayment(serviceToken);
  logLook(deps, token, 'retrieve', outcome.kind);
  if (outcome.kind === 'accepted')
    return { type: 'RecordObservation', observed: fromServicePayment(outcome.answer) };
  if (outcome.kind === 'refused' && isNotFound(outcome.errors))
    return { type: 'RecordMissing', serviceToken };
  return undefined;
}

const isNotFound = (errors: readonly ApiError[]): boolean =>
  errors.some(({ code }) => code === 'payment_not_found');

function logLook(deps: LookDependencies, token: string, operation: string, outcome: string): void {
  deps.log.debug({ token, account: deps.account.name, operation, outcome }, 'looked at the Payment Service');
}
