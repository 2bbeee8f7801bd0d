/**
 * The one rule for calling the Payment Service, for every operation that moves money: a call is made only after the event
 * that announces it was appended, only by whoever appended it, only before that event's `sendBy`, and once. How it
 * ended is recorded; what nobody could record is found out by looking (`looks/`), never by calling again.
 */
import type { CallOutcome, PaymentServiceClient } from '@tollgate/payment-api';
import type { CallWindow } from '@tollgate/payment-domain';
import type { Clock, Log } from '@tollgate/service-kit';
import type { Permit } from '../accounts/account.ts';
import type { Done } from '../streams/repository.ts';

/** A call that has been announced, with all that is needed to make it. */
export interface AnnouncedCall<Command> {
  operation: 'create' | 'confirm' | 'decline' | 'refund' | 'payout';
  window: CallWindow;
  /** True where a process that knows no more than the events can make the next attempt: no card is needed for it. */
  goesOnLater: boolean;
  send(client: PaymentServiceClient): Promise<EndedCall<Command>>;
  /** Its end where it was not made, or where nobody may go on from its end now. */
  endedAs(outcome: { kind: 'not-sent' | 'unknown'; reason: string }): EndedCall<Command>;
}

export interface EndedCall<Command> {
  outcome: Pick<CallOutcome<unknown>, 'kind'>;
  /** True where it had no effect for certain, and another attempt may be announced in the same breath. */
  mayBeFollowed: boolean;
  /**
   * The command that records the end.
   *
   * @param next the permit under which the next attempt would be made
   */
  toCommand(next?: Permit): Command;
}

/** Ties what a call sends to how its end is recorded. */
export function announcedCall<Answer, Command>(call: {
  operation: AnnouncedCall<Command>['operation'];
  window: CallWindow;
  send: (client: PaymentServiceClient) => Promise<CallOutcome<Answer>>;
  toCommand: (outcome: CallOutcome<Answer>, next: Permit | undefined) => Command;
  mayBeFollowed?: (outcome: CallOutcome<Answer>) => boolean;
  goesOnLater?: boolean;
}): AnnouncedCall<Command> {
  const { operation, window, send, toCommand, mayBeFollowed = () => false, goesOnLater = false } = call;
  const end = (outcome: CallOutcome<Answer>): EndedCall<Command> => ({
    outcome,
    mayBeFollowed: mayBeFollowed(outcome),
    toCommand: (next) => toCommand(outcome, next),
  });
  return { operation, window, goesOnLater, send: async (client) => end(await send(client)), endedAs: end };
}

/** One kind of stream on which calls are announced. */
export interface CallSubject<View extends { token: string }, Event, Command> {
  /** The call that these events, which this process has just appended, announce. */
  announcedBy(done: Done<View, Event>): AnnouncedCall<Command> | undefined;
  execute(token: string, command: Command): Promise<Done<View, Event>>;
  /** A permit for the attempt after one that had no effect; undefined where there is to be none. */
  permitAfter(view: View): Promise<Permit | undefined>;
}

export interface AnnouncedCallsDependencies {
  /** Aborted when the process stops: what is announced by then is sent, and no further attempt begins. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}

export interface AnnouncedCalls {
  /**
   * Makes the call that `done` announces, records its end, and goes on with the attempts that this announces in turn.
   * Gives the permit back. Resolves with the document when nothing is announced any more; at once where nothing was.
   */
  carryOut<View extends { token: string }, Event, Command>(
    subject: CallSubject<View, Event, Command>,
    done: Done<View, Event>,
    permit: Permit,
  ): Promise<View>;
  /** Resolves when the calls under way for this stream in this process have been recorded; at once where there is none. */
  settled(token: string): Promise<void>;
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
}

/** Pause before an attempt that follows one which provably was not sent, milliseconds; doubled each time. */
const notSentPauseMs = 200;

export function createAnnouncedCalls(deps: AnnouncedCallsDependencies): AnnouncedCalls {
  const underWay = new Map<Promise<unknown>, string>();
  return {
    async carryOut(subject, done, permit) {
      const work = carryOut(deps, subject, done, permit);
      underWay.set(work, done.view.token);
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
      while (underWay.size > 0) await Promise.allSettled([...underWay.keys()]);
    },
  };
}

async function carryOut<View extends { token: string }, Event, Command>(
  deps: AnnouncedCallsDependencies,
  subject: CallSubject<View, Event, Command>,
  first: Done<View, Event>,
  permit: Permit,
): Promise<View> {
  let done = first;
  let held: Permit | undefined = permit;
  try {
    // Bounded by the domain, which announces a bounded number of attempts.
    for (let sent = 0; ; sent += 1) {
      const call = subject.announcedBy(done);
      if (call === undefined) return done.view;
      if (held === undefined) throw new Error('a call was announced without a permit');
      const { view } = done;
      const ended: EndedCall<Command> = await callOnce(deps, call, held, view.token);
      ({ done, held } = await recordEnd(deps, subject, { ended, view, sent }));
    }
  } finally {
    held?.release('unused');
  }
}

async function recordEnd<View extends { token: string }, Event, Command>(
  { clock, stopping }: AnnouncedCallsDependencies,
  subject: CallSubject<View, Event, Command>,
  { ended, view, sent }: { ended: EndedCall<Command>; view: View; sent: number },
): Promise<{ done: Done<View, Event>; held: Permit | undefined }> {
  if (!ended.mayBeFollowed)
    return { done: await subject.execute(view.token, ended.toCommand()), held: undefined };
  if (ended.outcome.kind === 'not-sent')
    await clock.sleep(notSentPauseMs * 2 ** sent, stopping).catch(() => undefined);
  const next = await subject.permitAfter(view);
  try {
    return { done: await subject.execute(view.token, ended.toCommand(next)), held: next };
  } catch (error) {
    next?.release('unused');
    throw error;
  }
}

/** Makes the call and gives the permit back, with how it ended for the account's circuit breaker. */
async function callOnce<Command>(
  deps: AnnouncedCallsDependencies,
  call: AnnouncedCall<Command>,
  permit: Permit,
  token: string,
): Promise<EndedCall<Command>> {
  const { clock, log, stopping } = deps;
  const startedAt = clock.monotonic();
  const ended = await sendInTime(deps, call, permit);
  const durationMs = Math.round(clock.monotonic() - startedAt);
  log.info(
    { token, account: permit.account, operation: call.operation, outcome: ended.outcome.kind, durationMs },
    'called the Payment Service',
  );
  if (!ended.mayBeFollowed || !stopping.aborted) return ended;
  // A certain end that would lead to a further attempt is left open instead: the follow-up goes on after the restart.
  // It could not with a card, which is gone by then: that end stands.
  if (!call.goesOnLater) return { ...ended, mayBeFollowed: false };
  return call.endedAs({ kind: 'unknown', reason: 'stopped before another attempt' });
}

async function sendInTime<Command>(
  { clock }: AnnouncedCallsDependencies,
  call: AnnouncedCall<Command>,
  permit: Permit,
): Promise<EndedCall<Command>> {
  // The last look at the clock before the bytes leave: a process that slept since its announcement must not send.
  if (clock.now() >= call.window.sendBy) {
    permit.release('unused');
    return call.endedAs({ kind: 'not-sent', reason: 'the time to send had passed' });
  }
  let kind: CallOutcome<unknown>['kind'] = 'unknown';
  try {
    const ended = await call.send(permit.client);
    ({ kind } = ended.outcome);
    return ended;
  } finally {
    permit.release(kind);
  }
}
