/** A team's wish for a payment: announced, called, recorded, answered; a repeat meets what the first one did. */
import type { Caller, PaymentDocument } from '@tollgate/read-models';
import type { Clock } from '@tollgate/service-kit';
import { type Account, type CallTimes, planAttempt } from './account.ts';
import type { CreationCalls } from './creation-call.ts';
import type { LookResult } from './look.ts';
import { type PaymentRequest, toTerms } from './payment-request.ts';
import { type IdempotencyKey, derivePaymentToken, fingerprintOf } from './payment-token.ts';
import type { Cause, Payments } from './payments.ts';

export interface CreatePaymentDependencies {
  payments: Payments;
  account: Account;
  times: CallTimes;
  calls: CreationCalls;
  look: (token: string, cause: Cause) => Promise<LookResult>;
  clock: Clock;
}

export type CreatePaymentResult =
  /** `document` is the payment after its first call has ended, one way or another. */
  | { kind: 'answered'; document: PaymentDocument; replayed: boolean }
  | { kind: 'refused'; code: 'idempotency_key_reused' | 'operation_in_progress'; token: string };

/** How long a repeat waits for the outcome of a call that another process is making, and between two looks, milliseconds. */
const repeatWaitMs = 5_000;
const repeatPauseMs = 50;

export async function createPayment(
  deps: CreatePaymentDependencies,
  input: { caller: Caller; key: IdempotencyKey; request: PaymentRequest; cause: Cause },
): Promise<CreatePaymentResult> {
  const { caller, key, request, cause } = input;
  const { environment, team } = caller;
  const token = derivePaymentToken(environment, team, key);
  const { account, times, clock } = deps;
  const attempt = planAttempt(token, { number: 1, account: account.name, now: clock.now(), times });
  const terms = toTerms(request);
  // Over the validated body, all of it: what is not part of the terms may not differ unnoticed either.
  const fingerprint = fingerprintOf(request);
  const command = { type: 'RequestPayment' as const, environment, team, terms, fingerprint, attempt };
  const executed = await deps.payments.execute(token, command, cause);
  if (executed.kind === 'refused') return { kind: 'refused', code: executed.refusal.code, token };
  if (executed.events.length === 0) return repeat(deps, token, cause);
  return { kind: 'answered', document: await deps.calls.send(executed.document, cause), replayed: false };
}

// The announcement stands already: whoever appended it makes the call, we wait for what becomes of it.
async function repeat(
  deps: CreatePaymentDependencies,
  token: string,
  cause: Cause,
): Promise<CreatePaymentResult> {
  await deps.calls.settled(token);
  const giveUpAt = deps.clock.monotonic() + repeatWaitMs;
  let document = await required(deps, token);
  while (document.payment.phase === 'requested' && deps.clock.now() < document.payment.attempt.answerBy) {
    if (deps.clock.monotonic() >= giveUpAt) return { kind: 'refused', code: 'operation_in_progress', token };
    await deps.clock.sleep(repeatPauseMs);
    document = await required(deps, token);
  }
  const { phase } = document.payment;
  if (phase === 'requested' || phase === 'unresolved') {
    await lookFor(deps, { token, cause, untilMs: giveUpAt });
    document = await required(deps, token);
  }
  // A look that could not be made leaves the call as it is: announced, outcome unknown. That is an answer, not an error.
  return { kind: 'answered', document, replayed: true };
}

/** Looks, and waits for it no longer than the caller is to wait; the look goes on. */
async function lookFor(
  { look, clock }: CreatePaymentDependencies,
  { token, cause, untilMs }: { token: string; cause: Cause; untilMs: number },
): Promise<void> {
  const enough = new AbortController();
  const looking = look(token, cause).catch(() => 'failed' as const);
  const waiting = clock.sleep(Math.max(0, untilMs - clock.monotonic()), enough.signal).catch(() => undefined);
  await Promise.race([looking, waiting]);
  enough.abort();
}

async function required(deps: CreatePaymentDependencies, token: string): Promise<PaymentDocument> {
  const document = await deps.payments.load(token);
  if (document === undefined) throw new Error(`payment ${token} was there and is gone`);
  return document;
}
