/**
 * The one rule for calling a provider, for every operation that moves money: a call is made only after the event that
 * announces it was appended, only by the one who appended it, only before that event's `sendBy`, and once. A refusal is
 * believed once a status inquiry shows no effect. An outcome that could not be recorded is found by inquiries
 * (`inquiries/`), never by calling again.
 */
import type { CallOperation, CallOutcome, CallWindow } from '@tollgate/payment-domain';
import type { MaySend, Provider } from '@tollgate/provider';
import { type Clock, InvariantViolation, type Log } from '@tollgate/service-kit';
import type { Permit, PermitEnd } from '../accounts/account.ts';
import type { Done } from '../aggregates/repository.ts';
import type { Asked } from '../inquiries/ask-account.ts';
import { withinWait } from '../operations/await-outcome.ts';
import type { CallTimes } from './call-times.ts';
import type { QuietPeriods } from './quiet-periods.ts';

/** A call that has been announced: what it sends, and how its outcome is recorded. */
export interface OutboundCall<Observation, Answer = object> {
  operation: CallOperation;
  window: CallWindow;
  send(provider: Provider, maySend: MaySend): Promise<CallOutcome<Answer>>;
  /** Inquires whether it had no effect; undefined for a capture or void, which the request inquires after a refusal anyway. */
  hasNoEffect?: (() => Promise<Asked<boolean>>) | undefined;
  /** @param next the permit under which the next attempt would be made */
  record(outcome: CallOutcome<Answer>, next?: Permit): Observation;
  /** True where it certainly had no effect, and a further attempt may be announced together with its outcome. */
  mayBeFollowed(outcome: CallOutcome<Answer>): boolean;
  /**
   * True for a payment page. No customer is given it unless the call was accepted, so a further attempt needs no confirmation
   * that this one had no effect. And it needs no card: a process that knows no more than the events can make a further attempt.
   */
  isPage: boolean;
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
  quietPeriods: Pick<QuietPeriods, 'observe'>;
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

/** Attempts of one request. */
interface Chain {
  sent: number;
  /** True once no caller waits for the answer any more: then no further attempt begins. */
  isGivenUp: () => boolean;
}

// Bounded by the domain, which announces a bounded number of attempts.
async function sendAnnounced<Subject extends { token: string }, Event, Observation>(
  deps: SenderDependencies,
  announcer: Announcer<Subject, Event, Observation>,
  done: Done<Subject, Event>,
  permit: Permit | undefined,
  chain?: Chain,
): Promise<Subject> {
  const { aggregate } = done;
  const call = announcer.callAnnouncedBy(done);
  if (call === undefined) return aggregate;
  if (permit === undefined) throw new InvariantViolation('a call was announced without a permit');
  deps.quietPeriods.observe(aggregate.token, call.window);
  const { sent, isGivenUp } = chain ?? { sent: 0, isGivenUp: afterAnswerBy(deps, call.window, permit) };
  const outcome = await sendOnce(deps, call, permit, aggregate.token);
  const isOver = !call.mayBeFollowed(outcome) || isGivenUp();
  if (isOver) return record(announcer, aggregate, call.record(outcome));
  if (deps.stopping.aborted) return record(announcer, aggregate, call.record(atStop(call, outcome)));

  if (outcome.kind === 'not-sent') await pauseBeforeRepeat(deps, sent);
  using next = await announcer.permitAfter(aggregate);
  // The process may have been suspended since.
  const following = isGivenUp() ? undefined : next;
  const recorded = await announcer.record(aggregate.token, call.record(outcome, following));
  return await sendAnnounced(deps, announcer, recorded, following, { sent: sent + 1, isGivenUp });
}

/** Inquiries about a refusal, at most: only one that was not sent itself is repeated. */
const inquiriesMax = 3;

/**
 * A call may be delivered twice on its way. The first delivery has its effect, and any refusal may be the answer to the
 * second one. It stands once an inquiry shows no effect. Otherwise the outcome is unknown, until a later inquiry confirms it.
 */
async function confirm<Observation>(
  deps: SenderDependencies,
  { hasNoEffect, isPage, mayBeFollowed, operation }: OutboundCall<Observation>,
  outcome: CallOutcome<object>,
): Promise<CallOutcome<object>> {
  const isRefusal = outcome.kind === 'refused' || (outcome.kind === 'not-sent' && outcome.isAnswered);
  if (!isRefusal || hasNoEffect === undefined) return outcome;
  // A customer waits for the page of the next attempt, which needs no answer.
  const isFollowed = isPage && mayBeFollowed(outcome);
  const asked = await withinWait(
    deps.clock,
    inquireRepeatedly(deps, hasNoEffect, isFollowed ? 1 : inquiriesMax),
  );
  if (asked?.kind === 'accepted' ? asked.answer : isFollowed) return outcome;
  const reason = `${reasonOf(outcome)}, and no inquiry has shown that it had no effect`;
  // What has shown under its number once is not refused. A refunded sum may only not be shown.
  const mayBeConfirmed = outcome.kind === 'refused' && (asked?.kind !== 'accepted' || operation === 'refund');
  return { kind: 'unknown', reason, ...(mayBeConfirmed && { errors: outcome.errors }) };
}

async function inquireRepeatedly(
  deps: SenderDependencies,
  inquire: () => Promise<Asked<boolean>>,
  timesMax: number,
): Promise<Asked<boolean>> {
  let asked = await inquire();
  for (let inquiries = 1; asked.kind === 'not-sent' && inquiries < timesMax; inquiries += 1) {
    await pauseBeforeRepeat(deps, inquiries);
    asked = await inquire();
  }
  return asked;
}

const reasonOf = (outcome: CallOutcome<object>): string =>
  outcome.kind === 'refused' ? `refused as ${outcome.errors[0]?.code ?? 'unknown'}` : outcome.kind;

const record = async <Subject extends { token: string }, Observation>(
  announcer: Announcer<Subject, unknown, Observation>,
  { token }: Subject,
  observation: Observation,
): Promise<Subject> => (await announcer.record(token, observation)).aggregate;

/**
 * Makes the call, or not where its time has passed, and gives the permit back with its outcome, for the circuit breaker: a
 * refusal that no inquiry confirmed counts as a call without an answer.
 */
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
  if (!maySend()) return late;
  try {
    const outcome = await confirm(deps, call, await call.send(permit.provider, maySend));
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

/** As {@link untilSendBy}, for the instant from which no caller waits for the answer any more. */
function afterAnswerBy(
  { clock, times }: SenderDependencies,
  { sendBy, answerBy }: CallWindow,
  { ageMs }: Permit,
): () => boolean {
  return () => clock.now() >= answerBy || ageMs() >= times.sendWithinMs + answerBy - sendBy;
}

/**
 * An outcome that would lead to a further attempt is left open instead: after the restart an inquiry leads to it. With a
 * card, which is gone by then, it could not: that outcome stands.
 */
const atStop = <Observation>(
  { isPage }: OutboundCall<Observation>,
  outcome: CallOutcome<object>,
): CallOutcome<object> => (isPage ? { kind: 'unknown', reason: 'stopped before another attempt' } : outcome);

/** Pause before an attempt that follows one which provably was not sent, milliseconds; doubled each time. */
const notSentPauseMs = 200;

async function pauseBeforeRepeat({ clock, stopping }: SenderDependencies, sent: number): Promise<void> {
  await clock.sleep(notSentPauseMs * 2 ** sent, stopping).catch(() => undefined);
}
