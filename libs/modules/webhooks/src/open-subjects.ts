/**
 * The payments and payouts (subjects) with undelivered webhooks, and their due times. Keeps a few hundred bytes for each and
 * none of their bodies: memory is proportional to the open ones. One attempt at a time per subject keeps its webhooks in order.
 */
import type { LoadedWebhooks } from './webhook-journal.ts';
import { nextTryAt } from './webhook-state.ts';
import { createFairQueue, limitsDefault, type Limits, type Receiver } from './fair-queue.ts';

/** Pauses of a subject whose webhooks could not be read or written. @unit milliseconds */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

export type OpenSubjects = ReturnType<typeof createOpenSubjects>;

interface OpenSubject {
  receiver: Receiver;
  /** Undefined once nothing is open. */
  nextAt: number | undefined;
  revision: number;
  /** Consecutive failed reads or writes of its webhooks. */
  failuresInRow: number;
  place: 'waiting' | 'ready' | 'busy';
}

export function createOpenSubjects(limits: Limits = limitsDefault) {
  // In the order in which they were opened.
  const subjects = new Map<string, OpenSubject>();
  const schedule = createSchedule(subjects, limits);
  const { change, end } = schedule;

  return {
    /** Updates the webhooks of a subject. */
    update(token: string, loaded: LoadedWebhooks): void {
      const revision = loaded.revision === 'no-stream' ? -1 : loaded.revision;
      const known = subjects.get(token);
      if (known !== undefined && known.revision > revision) return;
      const subject = known ?? toOpenSubject(loaded);
      if (subject === undefined) return;
      subject.revision = revision;
      subjects.set(token, subject);
      change(token, subject, nextTryAt(loaded.state));
    },
    /** True if this revision of its webhooks, or a later one, has been applied. */
    isKnown: (token: string, revision: number): boolean => (subjects.get(token)?.revision ?? -1) >= revision,
    has: (token: string): boolean => subjects.has(token),
    forget(token: string): void {
      const subject = subjects.get(token);
      if (subject !== undefined) change(token, subject, undefined);
    },
    take: schedule.take,
    release: (token: string): void => end(token, { failuresInRow: 0, notBefore: 0 }),
    /** Releases one whose webhooks could not be read or written, for a pause that doubles up to 30 seconds. */
    putOff(token: string, now: number): void {
      const failuresInRow = (subjects.get(token)?.failuresInRow ?? 0) + 1;
      const pauseMs = Math.min(firstPauseMs * 2 ** (failuresInRow - 1), longestPauseMs);
      end(token, { failuresInRow, notBefore: now + pauseMs });
    },
    nextDueAt: schedule.nextDueAt,
  };
}

/** Subjects that wait for their time, wait for their turn, or are busy. */
function createSchedule(subjects: Map<string, OpenSubject>, limits: Limits) {
  const turns = createFairQueue(limits);
  /** No waiting subject is due earlier. */
  let earliestWaiting = Infinity;

  function makeReady(token: string, subject: OpenSubject): void {
    subject.place = 'ready';
    turns.join(token, subject.receiver);
  }

  /** Queues an idle subject for its next attempt. */
  function place(token: string, subject: OpenSubject): void {
    const { nextAt, receiver } = subject;
    if (nextAt === 0) return makeReady(token, subject);
    turns.leave(token, receiver);
    subject.place = 'waiting';
    if (nextAt === undefined) subjects.delete(token);
    else earliestWaiting = Math.min(earliestWaiting, nextAt);
  }

  function makeDueReady(now: number): void {
    if (now < earliestWaiting) return;
    earliestWaiting = Infinity;
    for (const [token, subject] of subjects) {
      if (subject.place !== 'waiting' || subject.nextAt === undefined) continue;
      if (subject.nextAt <= now) makeReady(token, subject);
      else earliestWaiting = Math.min(earliestWaiting, subject.nextAt);
    }
  }

  function change(token: string, subject: OpenSubject, nextAt: number | undefined): void {
    subject.nextAt = nextAt;
    if (subject.place !== 'busy') place(token, subject);
  }

  return {
    change,
    end(token: string, { failuresInRow, notBefore }: { failuresInRow: number; notBefore: number }): void {
      const subject = subjects.get(token);
      if (subject?.place !== 'busy') return;
      turns.end(subject.receiver);
      subject.place = 'waiting';
      subject.failuresInRow = failuresInRow;
      const { nextAt } = subject;
      change(token, subject, nextAt === undefined ? undefined : Math.max(nextAt, notBefore));
    },
    /** Takes the subject with the next turn; undefined if none is due or there is no room. It is busy until released. */
    take(now: number): string | undefined {
      makeDueReady(now);
      const token = turns.take();
      const subject = token === undefined ? undefined : subjects.get(token);
      if (subject !== undefined) subject.place = 'busy';
      return token;
    },
    /** When the next waiting subject becomes due. */
    nextDueAt: (): number | undefined => (earliestWaiting === Infinity ? undefined : earliestWaiting),
  };
}

/** Undefined if nothing is open. All webhooks of a subject use the URL that it was created with. */
function toOpenSubject({ state }: LoadedWebhooks): OpenSubject | undefined {
  const [first] = state.webhooks;
  const nextAt = nextTryAt(state);
  if (first === undefined || nextAt === undefined) return undefined;
  const receiver = { team: first.team, origin: URL.parse(first.url)?.origin ?? '' };
  return { receiver, nextAt, revision: -1, failuresInRow: 0, place: 'waiting' };
}
