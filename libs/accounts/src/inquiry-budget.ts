/**
 * The inquiries of one account: limits on concurrency and rate, separate from the calls that move money. Inquiries with a
 * waiting caller come first. None starves: under load, callers begin half of the inquiries, teams take turns, and a quarter
 * of the places is reserved for callers, another quarter for the rest.
 */
import { type Clock, createTokenBucket, createTurnQueue } from '@tollgate/service-kit';
import type { InquiryLimits } from './accounts.ts';

/** In order of service: a caller waits, a callback arrived, the schedule finds an item due. */
const inquiryPriorities = ['caller', 'callback', 'schedule'] as const;
export type InquiryPriority = (typeof inquiryPriorities)[number];

/** Maximum wait of a callback: less than its batch waits for it. @unit milliseconds */
const callbackWaitMs = 2_500;
/** Maximum number waiting per team and priority; more are rejected. */
const waitingMax = 2_000;
/** The cycle of turns; an unusable turn passes to the first usable one. */
const turns: readonly InquiryPriority[] = ['caller', 'callback', 'caller', 'callback', 'caller', 'schedule'];

export function createInquiryBudget(deps: {
  limits: InquiryLimits;
  clock: Clock;
  /** Aborted when the process stops: waiting inquiries do not begin. */
  stopping: AbortSignal;
}) {
  const { clock, stopping } = deps;
  const { concurrentMax, perSecondMax } = deps.limits;
  const tokens = createTokenBucket(perSecondMax, clock);
  const newQueue = createTurnQueue<(mayBegin: boolean) => void>;
  const waiting = { caller: newQueue(), callback: newQueue(), schedule: newQueue() };
  const underWay = { caller: 0, callback: 0, schedule: 0 };
  let turn = 0;
  let isAlarmSet = false;

  stopping.addEventListener('abort', () => {
    for (const queue of Object.values(waiting)) queue.clear().forEach((enter) => enter(false));
  });

  function mayServe(priority: InquiryPriority): boolean {
    const { caller, callback, schedule } = underWay;
    const others = callback + schedule;
    const places = concurrentMax();
    if (waiting[priority].isEmpty() || caller + others >= places) return false;
    const mostPlaces = Math.ceil((places * 3) / 4);
    if (priority === 'caller') return caller < mostPlaces;
    return others < mostPlaces && (priority === 'callback' || schedule < Math.ceil(places / 2));
  }

  function serve(): void {
    for (;;) {
      const priority = [turns[turn % turns.length] ?? 'caller', ...inquiryPriorities].find(mayServe);
      if (priority === undefined) return;
      if (!tokens.tryTake()) return setAlarm();
      turn += 1;
      underWay[priority] += 1;
      waiting[priority].shift()?.(true);
    }
  }

  /** A release frees a place; a token arrives by time alone. */
  function setAlarm(): void {
    if (isAlarmSet) return;
    isAlarmSet = true;
    const ring = () => {
      isAlarmSet = false;
      serve();
    };
    clock.sleep(tokens.nextInMs(), stopping).then(ring, () => undefined);
  }

  return {
    /** True once the inquiry may begin; false if too many wait already, or the process stops. */
    async enter(priority: InquiryPriority, team = ''): Promise<boolean> {
      const queue = waiting[priority];
      if (stopping.aborted || queue.lengthOf(team) >= waitingMax) return false;
      const entering = Promise.withResolvers<boolean>();
      queue.push(team, entering.resolve);
      serve();
      if (priority !== 'callback' || !queue.has(team, entering.resolve)) return entering.promise;
      // Its inquiry would find that the callback has been deferred meanwhile, and be repeated.
      const served = new AbortController();
      const giveUp = () => queue.remove(team, entering.resolve) && entering.resolve(false);
      clock.sleep(callbackWaitMs, served.signal).then(giveUp, () => undefined);
      return entering.promise.finally(() => served.abort());
    },
    leave(priority: InquiryPriority): void {
      underWay[priority] -= 1;
      serve();
    },
  };
}
