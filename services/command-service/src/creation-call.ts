/**
 * The one rule for calling the Payment Service: a call is made only after the event that announces it was appended,
 * only by the process whose append won, only before that event's `sendBy`, and once. What becomes of it is recorded;
 * what nobody could record is found out by looking (`look.ts`), never by calling again.
 */
import type { CreationOutcome, Payment } from '@tollgate/payment-domain';
import { attemptsMax } from '@tollgate/payment-domain';
import type { PaymentDocument } from '@tollgate/read-models';
import type { Clock, Log } from '@tollgate/service-kit';
import { type Account, type CallTimes, planAttempt } from './account.ts';
import type { Cause, Payments } from './payments.ts';
import { fromCreationOutcome, toCreateRequest } from './provider-mapping.ts';

export interface CreationCallDependencies {
  payments: Payments;
  account: Account;
  times: CallTimes;
  callbackUrlOf: (environment: string, token: string) => string;
  /** Aborted when the process stops: what is announced by then is sent, and no further attempt begins. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}

/** Pause before an attempt that follows one which provably was not sent, milliseconds; doubled each time. */
const notSentPauseMs = 200;

export interface CreationCalls {
  /**
   * Makes the call that the payment's current attempt announces, records its outcome, and goes on with the attempts that
   * this announces in turn. The caller of this function must be the one whose append announced the attempt.
   */
  send(announced: PaymentDocument, cause: Cause): Promise<PaymentDocument>;
  /** Resolves when the call under way for this payment in this process has been recorded; at once where there is none. */
  settled(token: string): Promise<void>;
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
}

export function createCreationCalls(deps: CreationCallDependencies): CreationCalls {
  const underWay = new Map<Promise<unknown>, string>();
  const ofPayment = (token: string) =>
    [...underWay].flatMap(([call, each]) => (each === token ? [call] : []));

  return {
    async send(announced, cause) {
      const sending = sendAttempts(deps, announced, cause);
      underWay.set(sending, announced.token);
      try {
        return await sending;
      } finally {
        underWay.delete(sending);
      }
    },
    async settled(token) {
      await Promise.allSettled(ofPayment(token));
    },
    async idle() {
      while (underWay.size > 0) await Promise.allSettled([...underWay.keys()]);
    },
  };
}

async function sendAttempts(
  deps: CreationCallDependencies,
  announced: PaymentDocument,
  cause: Cause,
): Promise<PaymentDocument> {
  let document = announced;
  // Bounded by the domain: it announces at most `attemptsMax` attempts.
  for (let sent = 0; sent < attemptsMax; sent += 1) {
    const { attempt } = document.payment;
    const outcome = unlessStopping(deps, await callOnce(deps, document));
    const next = planNext(deps, document, outcome);
    const command = { type: 'RecordCreationOutcome' as const, attemptNumber: attempt.number, outcome };
    const executed = await deps.payments.execute(
      document.token,
      next === undefined ? command : { ...command, nextAttempt: next },
      cause,
    );
    if (executed.kind === 'refused') throw new Error(`a recorded fact was refused: ${executed.refusal.code}`);
    document = executed.document;
    if (!executed.events.some(({ type }) => type === 'AttemptStarted')) return document;
    if (outcome.kind === 'not-sent')
      await deps.clock.sleep(notSentPauseMs * 2 ** sent, deps.stopping).catch(() => undefined);
  }
  return document;
}

async function callOnce(
  deps: CreationCallDependencies,
  { token, payment }: PaymentDocument,
): Promise<CreationOutcome> {
  const { account, callbackUrlOf, clock, log } = deps;
  const request = toCreateRequest(payment, callbackUrlOf(payment.environment, token));
  const startedAt = clock.monotonic();
  // The last look at the clock before the bytes leave: a process that slept since its announcement must not send.
  if (clock.now() >= payment.attempt.sendBy)
    return { kind: 'not-sent', reason: 'the time to send had passed' };
  const outcome = fromCreationOutcome(await account.client.createPayment(request));
  log.info(
    {
      token,
      account: account.name,
      operation: 'create',
      outcome: outcome.kind,
      attemptNumber: payment.attempt.number,
      durationMs: Math.round(clock.monotonic() - startedAt),
    },
    'called the Payment Service',
  );
  return outcome;
}

// A certain end that would lead to a further attempt is left open instead: the follow-up goes on after the restart.
function unlessStopping({ stopping }: CreationCallDependencies, outcome: CreationOutcome): CreationOutcome {
  if (outcome.kind !== 'not-sent' || !stopping.aborted) return outcome;
  return { kind: 'unknown', reason: `stopped before another attempt (${outcome.reason})` };
}

// An attempt that provably had no effect may be followed by another; the domain decides whether it is.
function planNext(
  deps: CreationCallDependencies,
  { token, payment }: PaymentDocument,
  outcome: CreationOutcome,
) {
  if (outcome.kind !== 'not-sent') return undefined;
  return planNextAttempt(token, payment, {
    account: deps.account.name,
    now: deps.clock.now(),
    times: deps.times,
  });
}

/** The attempt after the payment's current one, or undefined where there may be no more. */
export function planNextAttempt(
  token: string,
  { attempt }: Payment,
  options: { account: string; now: number; times: CallTimes },
) {
  const number = attempt.number + 1;
  return number > attemptsMax ? undefined : planAttempt(token, { number, ...options });
}
