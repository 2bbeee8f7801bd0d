/**
 * The one rule for calling a provider, for every operation that moves money: a call is made only after the event that
 * announces it was appended, only by the process that appended it, only before that event's `sendBy`, and once. A refusal
 * is believed once a status inquiry shows no effect. An outcome that could not be recorded is found by inquiries
 * (`inquiry/`), never by calling again.
 */
import {
  type CallOperation,
  type CallOutcome,
  type CallWindow,
  type CallTimes,
  waitMaxMs,
} from '../domain/outbound-call/outbound-call.ts';
import type { MaySend, Provider } from '../provider.ts';
import { type Clock, InvariantViolation, type Log, valueWithin } from '@tollgate/service-kit';
import type { Permit } from '../accounts.ts';
import type { Done } from '../aggregates/repository.ts';
import type { Asked } from './ask-account.ts';
import type { QuietPeriods } from './quiet-periods.ts';
import type { PermitEnd } from '@tollgate/accounts';

export interface OutboundCall<Answer> {
  /** This process's append of the announcement. It allows one call. */
  announced: Done<{ token: string }, unknown>;
  operation: CallOperation;
  /** As announced. */
  window: CallWindow;
  /** Released with the outcome. */
  permit: Permit;
  send(provider: Provider, maySend: MaySend): Promise<CallOutcome<Answer>>;
  /**
   * Inquires whether the call had no effect, before a refusal is believed. Absent for a capture or void, whose status is
   * inquired after any refusal.
   */
  hasNoEffect?: (() => Promise<Asked<boolean>>) | undefined;
  /** False for the refusal of a page that another one follows: no customer received it. Absent: every refusal is confirmed. */
  isConfirmed?: ((outcome: CallOutcome<Answer>) => boolean) | undefined;
}

export interface SenderDependencies {
  /** Aborted when the process stops: announced calls are still sent, and no further attempt begins. */
  stopping: AbortSignal;
  times: Pick<CallTimes, 'sendWithinMs'>;
  quietPeriods: Pick<QuietPeriods, 'observe'>;
  clock: Clock;
  log: Log;
}

export type Sender = ReturnType<typeof createSender>;

export function createSender(deps: SenderDependencies) {
  const underWay = new Map<Promise<unknown>, string>();
  const used = new WeakSet<object>();

  /** One append of one process allows one call. */
  function useUp(announced: OutboundCall<unknown>['announced']): void {
    if (announced.events.length === 0) throw new InvariantViolation('a call was not announced');
    if (used.has(announced)) throw new InvariantViolation('the announced call was already made');
    used.add(announced);
  }

  return {
    /**
     * Makes the call that `announced` announces, unless its deadline has passed.
     *
     * @throws InvariantViolation if this process appended no announcement, or has already made its call
     */
    async send<Answer>(call: OutboundCall<Answer>): Promise<CallOutcome<Answer>> {
      useUp(call.announced);
      return sendLogged(deps, call);
    },
    /** Marks work for a token as under way until it has ended: a call, and the recording of its outcome. */
    async track<Value>(token: string, work: Promise<Value>): Promise<Value> {
      underWay.set(work, token);
      return work.finally(() => underWay.delete(work));
    },
    /** Resolves when the work under way for this token in this process has ended; at once if there is none. */
    async settled(token: string): Promise<void> {
      await Promise.allSettled([...underWay].flatMap(([work, each]) => (each === token ? [work] : [])));
    },
    /** Resolves when no work is under way. */
    async idle(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay.keys());
    },
  };
}

async function sendLogged<Answer>(
  deps: SenderDependencies,
  call: OutboundCall<Answer>,
): Promise<CallOutcome<Answer>> {
  const { clock, log } = deps;
  const { token } = call.announced.aggregate;
  deps.quietPeriods.observe(token, call.window);
  const startedAt = clock.monotonic();
  const outcome = await sendInTime(deps, call);
  const durationMs = Math.round(clock.monotonic() - startedAt);
  const { account } = call.permit;
  log.info(
    { token, account, operation: call.operation, outcome: outcome.kind, durationMs },
    'called the provider',
  );
  return outcome;
}

const late = { kind: 'not-sent', reason: 'the time to send had passed' } as const;

/** Releases the permit with the outcome, for the circuit breaker. An unconfirmed refusal counts as no answer. */
async function sendInTime<Answer>(
  deps: SenderDependencies,
  call: OutboundCall<Answer>,
): Promise<CallOutcome<Answer>> {
  const { permit } = call;
  let kind: PermitEnd = 'unknown';
  const isDue = untilSendBy(deps, call.window.sendBy, permit);
  // The delay is ours: it does not count for the account.
  let isLate = false;
  const maySend = () => !(isLate ||= !isDue());
  if (!maySend()) {
    permit.release('unused');
    return late;
  }
  try {
    const outcome = await confirm(deps, call, await call.send(permit.provider, maySend));
    ({ kind } = outcome);
    return outcome;
  } finally {
    permit.release(isLate ? 'unused' : kind);
  }
}

/** Maximum inquiries about a refusal: only one that was not sent is repeated. */
const inquiriesMax = 3;

/**
 * A call may be delivered twice. The first delivery takes effect, and any refusal may answer the second one. It holds once an
 * inquiry shows no effect. Otherwise the outcome is unknown until a later inquiry confirms it.
 */
async function confirm<Answer>(
  deps: SenderDependencies,
  { hasNoEffect, isConfirmed, operation }: OutboundCall<Answer>,
  outcome: CallOutcome<Answer>,
): Promise<CallOutcome<Answer>> {
  const isRefusal = outcome.kind === 'refused' || (outcome.kind === 'not-sent' && outcome.isAnswered);
  if (!isRefusal || hasNoEffect === undefined || isConfirmed?.(outcome) === false) return outcome;
  const asked = await valueWithin(deps.clock, waitMaxMs, inquireRepeatedly(deps, hasNoEffect));
  if (asked?.kind === 'accepted' && asked.answer) return outcome;
  const reason = `${reasonOf(outcome)}, and no inquiry has confirmed that it had no effect`;
  // A payment or payout found under its number was not refused. A refunded sum may not be visible yet.
  const mayBeConfirmed = outcome.kind === 'refused' && (asked?.kind !== 'accepted' || operation === 'refund');
  return { kind: 'unknown', reason, ...(mayBeConfirmed && { errors: outcome.errors }) };
}

async function inquireRepeatedly(
  deps: SenderDependencies,
  inquire: () => Promise<Asked<boolean>>,
): Promise<Asked<boolean>> {
  let asked = await inquire();
  for (let inquiries = 1; asked.kind === 'not-sent' && inquiries < inquiriesMax; inquiries += 1) {
    await pauseBeforeRepeat(deps, inquiries);
    asked = await inquire();
  }
  return asked;
}

const reasonOf = (outcome: CallOutcome<unknown>): string =>
  outcome.kind === 'refused' ? `refused as ${outcome.errors[0]?.code ?? 'unknown'}` : outcome.kind;

/**
 * A process that was suspended after its announcement must not send. Some hosts stop the monotonic clock during suspension,
 * others step the wall clock: the call may be sent only while both clocks allow it.
 */
function untilSendBy({ clock, times }: SenderDependencies, sendBy: number, { ageMs }: Permit): MaySend {
  return () => clock.now() < sendBy && ageMs() < times.sendWithinMs;
}

/** As {@link untilSendBy}, for the time from which no caller waits for the answer. */
export function afterAnswerBy(
  { clock, times }: Pick<SenderDependencies, 'clock' | 'times'>,
  { sendBy, answerBy }: CallWindow,
  { ageMs }: Permit,
): () => boolean {
  return () => clock.now() >= answerBy || ageMs() >= times.sendWithinMs + answerBy - sendBy;
}

/** Pause before a repeat of a call that was provably not sent, doubled each time. @unit milliseconds */
const notSentPauseMs = 200;

export async function pauseBeforeRepeat(
  { clock, stopping }: Pick<SenderDependencies, 'clock' | 'stopping'>,
  sent: number,
): Promise<void> {
  await clock.sleep(notSentPauseMs * 2 ** sent, stopping).catch(() => undefined);
}
