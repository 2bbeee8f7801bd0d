/**
 * The one rule for calling a provider, for every operation that moves money: a call is made only after the event that
 * announces it was appended, only by the one who appended it, only before that event's `sendBy`, and once. Its outcome is
 * recorded; what nobody could record is found out by inquiries (`inquiries/`), never by calling again.
 */
import {
  type CallOperation,
  type CallOutcome,
  type CallWindow,
  mayHideEffect,
} from '@tollgate/payment-domain';
import type { MaySend, Provider } from '@tollgate/provider';
import { type Clock, InvariantViolation, type Log } from '@tollgate/service-kit';
import type { Permit, PermitEnd } from '../accounts/account.ts';
import type { Done } from '../aggregates/repository.ts';
import type { Asked } from '../inquiries/ask-account.ts';
import type { CallTimes } from './call-times.ts';

/** A call that has been announced: what it sends, and how its outcome is recorded. */
export interface OutboundCall<Observation, Answer = object> {
  operation: CallOperation;
  window: CallWindow;
  send(provider: Provider, maySend: MaySend): Promise<CallOutcome<Answer>>;
  /** Inquires whether its effect is absent; not there where an effect that was missed does no harm. */
  isAbsent?(): Promise<Asked<boolean>>;
  /** @param next the permit under which the next attempt would be made */
  record(outcome: CallOutcome<Answer>, next?: Permit): Observation;
  /** True where it certainly had no effect, and a further attempt may be announced together with its outcome. */
  mayBeFollowed(outcome: CallOutcome<Answer>): boolean;
  /** True where a process that knows no more than the events can make that attempt: it needs no card. */
  canBeFollowedLater: boolean;
}

/** One kind of aggregate on which calls are announced. */
export interface Announcer<Subject extends { token: string }, Event, Observation> {
  /** The call that these events, which this process has just appended, announce. */
  callAnnouncedBy(done: Done<Subject, Event>): OutboundCall<Observation> | undefined;
  record(token: string, observation: Observation): Promise<Done<Subject, Event>>;
  /** A permit for the attempt after one that had no effect; undefined where there is to be none. */
  permitAfter(aggregate: Subject): Promise<Permit | undefined>;
}

export interface SenderDependencies {
  /** Aborted when the process stops: what is announced by then is sent, and no further attempt begins. */
  stopping: AbortSignal;
  times: Pick<CallTimes, 'sendWithinMs'>;
  clock: Clock;
  log: Log;
}

export interface Sender {
  /**
   * Makes the call that `done` announces, records its outcome, then makes the attempts that the outcome announces.
   * Releases the permit. Resolves with the aggregate when nothing is announced any more; at once where nothing was.
   */
  send<Subject extends { token: string }, Event, Observation>(
    announcer: Announcer<Subject, Event, Observation>,
    done: Done<Subject, Event>,
    permit: Permit,
  ): Promise<Subject>;
  /** Resolves when the calls under way for this token in this process have been recorded; at once where there is none. */
  settled(token: string): Promise<void>;
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
}

export function createSender(deps: SenderDependencies): Sender {
  const underWay = new Map<Promise<unknown>, string>();
  return {
    async send(announcer, done, permit) {
      using held = permit;
      const work = sendAnnounced(deps, announcer, done, held);
      underWay.set(work, done.aggregate.token);
      try {
        return await work;
      } finally {
        underWay.delete(work);
      }
    },
    async settled(token) {
      await Promise.allSettled([...underWay].flatMap(([work, each]) => (each === token ? [work] : [])));
    },
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay.keys());
    },
  };
}

// Bounded by the domain, which announces a bounded number of attempts.
async function sendAnnounced<Subject extends { token: string }, Event, Observation>(
  deps: SenderDependencies,
  announcer: Announcer<Subject, Event, Observation>,
  done: Done<Subject, Event>,
  permit: Permit | undefined,
  sent = 0,
): Promise<Subject> {
  const { aggregate } = done;
  const call = announcer.callAnnouncedBy(done);
  if (call === undefined) return aggregate;
  if (permit === undefined) throw new InvariantViolation('a call was announced without a permit');
  const answered = await sendOnce(deps, call, permit, aggregate.token);
  const outcome = await confirm(deps, call, answered);
  const isOver = outcome === givenUp || !call.mayBeFollowed(outcome);
  if (isOver) return record(announcer, aggregate, call.record(outcome));
  if (deps.stopping.aborted) return record(announcer, aggregate, call.record(atStop(call, outcome)));

  if (outcome.kind === 'not-sent') await pauseBeforeRepeat(deps, sent);
  using next = await announcer.permitAfter(aggregate);
  const recorded = await announcer.record(aggregate.token, call.record(outcome, next));
  return await sendAnnounced(deps, announcer, recorded, next, sent + 1);
}

/** Inquiries about what an answer may hide, at most: only one that was not sent itself is repeated. */
const absenceInquiriesMax = 3;

/** An answer that may hide an effect stands where an inquiry shows none, and is no outcome otherwise. */
async function confirm<Observation>(
  deps: SenderDependencies,
  { isAbsent }: OutboundCall<Observation>,
  outcome: CallOutcome<object>,
): Promise<CallOutcome<object>> {
  if (isAbsent === undefined || !mayHideEffect(outcome)) return outcome;
  let asked = await isAbsent();
  for (let inquiries = 1; asked.kind === 'not-sent' && inquiries < absenceInquiriesMax; inquiries += 1) {
    await pauseBeforeRepeat(deps, inquiries);
    asked = await isAbsent();
  }
  return asked.kind === 'accepted' && asked.answer
    ? outcome
    : { kind: 'unknown', reason: `${toReason(outcome)}: the answer to a second delivery, perhaps` };
}

const toReason = (outcome: CallOutcome<object>): string =>
  outcome.kind === 'refused' ? (outcome.errors[0]?.code ?? 'refused') : outcome.kind;

const record = async <Subject extends { token: string }, Observation>(
  announcer: Announcer<Subject, unknown, Observation>,
  { token }: Subject,
  observation: Observation,
): Promise<Subject> => (await announcer.record(token, observation)).aggregate;

/** Makes the call, or not where its time has passed, and gives the permit back with its outcome, for the circuit breaker. */
async function sendOnce<Observation>(
  deps: SenderDependencies,
  call: OutboundCall<Observation>,
  permit: Permit,
  token: string,
): Promise<CallOutcome<object>> {
  const { clock, log } = deps;
  const startedAt = clock.monotonic();
  const outcome = await sendInTime(deps, call, permit);
  const durationMs = Math.round(clock.monotonic() - startedAt);
  const { account } = permit;
  log.info(
    { token, account, operation: call.operation, outcome: outcome.kind, durationMs },
    'called the provider',
  );
  return outcome;
}

const late = { kind: 'not-sent', reason: 'the time to send had passed' } as const;
/**
 * The same, and this very object: so late that nobody waits for the answer any more. What was reserved for it under a limit may
 * have lapsed before it was announced, and so no further attempt follows.
 */
const givenUp = { ...late };

async function sendInTime<Observation>(
  deps: SenderDependencies,
  call: OutboundCall<Observation>,
  permit: Permit,
): Promise<CallOutcome<object>> {
  let kind: PermitEnd = 'unknown';
  const isDue = untilSendBy(deps, call.window.sendBy, permit);
  // What came too late was not sent because of us: it says nothing about the account.
  let isLate = false;
  const maySend = () => !(isLate ||= !isDue());
  if (!maySend()) return isGivenUp(deps, call.window, permit) ? givenUp : late;
  try {
    const outcome = await call.send(permit.provider, maySend);
    ({ kind } = outcome);
    return outcome;
  } finally {
    permit.release(isLate ? 'unused' : kind);
  }
}

/**
 * A process that slept since its announcement must not send. The clock that announces follows the store's time, which goes on
 * with our monotonic clock: the permit asks the wall clock of this machine as well.
 */
function untilSendBy({ clock, times }: SenderDependencies, sendBy: number, { ageMs }: Permit): MaySend {
  return () => clock.now() < sendBy && ageMs() < times.sendWithinMs;
}

/** As {@link untilSendBy}, for the instant from which nobody waits for the answer any more. */
const isGivenUp = (
  { clock, times }: SenderDependencies,
  { sendBy, answerBy }: CallWindow,
  { ageMs }: Permit,
): boolean => clock.now() >= answerBy || ageMs() >= times.sendWithinMs + answerBy - sendBy;

/**
 * An outcome that would lead to a further attempt is left open instead: after the restart an inquiry leads to it. With a
 * card, which is gone by then, it could not: that outcome stands.
 */
const atStop = <Observation>(
  { canBeFollowedLater }: OutboundCall<Observation>,
  outcome: CallOutcome<object>,
): CallOutcome<object> =>
  canBeFollowedLater ? { kind: 'unknown', reason: 'stopped before another attempt' } : outcome;

/** Pause before an attempt that follows one which provably was not sent, milliseconds; doubled each time. */
const notSentPauseMs = 200;

async function pauseBeforeRepeat({ clock, stopping }: SenderDependencies, sent: number): Promise<void> {
  await clock.sleep(notSentPauseMs * 2 ** sent, stopping).catch(() => undefined);
}
