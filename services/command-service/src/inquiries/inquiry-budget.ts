/**
 * The inquiries of one account: so many under way, and so many begun per second, apart from the calls that move money. Who
 * waits for the answer goes first. Nobody starves: where all wait, callers begin half of the inquiries and teams take turns,
 * and a quarter of the places is kept for callers, another one for all others.
 */
import type { Clock } from '@tollgate/service-kit';
import { createTokenBucket } from '../accounts/token-bucket.ts';

/** In the order in which they are served: a caller waits, a callback has come, the schedule finds something due. */
const inquiryPriorities = ['caller', 'callback', 'schedule'] as const;
export type InquiryPriority = (typeof inquiryPriorities)[number];

/** Of one team and priority, that wait; more are turned away at once. */
const waitingMax = 2_000;
/** Whose turn it is, again and again; the turn of one that does not wait, or has no place, goes to the first that does. */
const turns: readonly InquiryPriority[] = ['caller', 'callback', 'caller', 'callback', 'caller', 'schedule'];

export interface InquiryBudget {
  /** True once the inquiry may begin; false where too many wait already, or the process stops. */
  enter(priority: InquiryPriority, team?: string): Promise<boolean>;
  leave(priority: InquiryPriority): void;
}

export function createInquiryBudget(deps: {
  concurrentMax: number;
  perSecondMax: number;
  clock: Clock;
  /** Aborted when the process stops: what waits then does not begin. */
  stopping: AbortSignal;
}): InquiryBudget {
  const { concurrentMax, perSecondMax, clock, stopping } = deps;
  const tokens = createTokenBucket(perSecondMax, clock);
  const [mostPlaces, halfOfPlaces] = [Math.ceil((concurrentMax * 3) / 4), Math.ceil(concurrentMax / 2)];
  const waiting = { caller: createQueue(), callback: createQueue(), schedule: createQueue() };
  const underWay = { caller: 0, callback: 0, schedule: 0 };
  let turn = 0;
  let isAlarmSet = false;

  stopping.addEventListener('abort', () => {
    for (const queue of Object.values(waiting)) queue.clear().forEach((enter) => enter(false));
  });

  function mayServe(priority: InquiryPriority): boolean {
    const { caller, callback, schedule } = underWay;
    const others = callback + schedule;
    if (waiting[priority].isEmpty() || caller + others >= concurrentMax) return false;
    if (priority === 'caller') return caller < mostPlaces;
    return others < mostPlaces && (priority === 'callback' || schedule < halfOfPlaces);
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

  /** A place is freed by the one that leaves; a token comes by time alone. */
  function setAlarm(): void {
    if (isAlarmSet) return;
    isAlarmSet = true;
    const ring = () => {
      isAlarmSet = false;
      serve();
    };
    clock.sleep(Math.max(1, tokens.nextInMs()), stopping).then(ring, () => undefined);
  }

  return {
    async enter(priority, team = '') {
      if (stopping.aborted || waiting[priority].lengthOf(team) >= waitingMax) return false;
      return new Promise((resolve) => {
        waiting[priority].push(team, resolve);
        serve();
      });
    },
    leave(priority) {
      underWay[priority] -= 1;
      serve();
    },
  };
}

type Enter = (mayBegin: boolean) => void;

/** Those of one priority: first come, first served within a team, and teams in turn. */
function createQueue() {
  const byTeam = new Map<string, Enter[]>();
  return {
    isEmpty: () => byTeam.size === 0,
    lengthOf: (team: string) => byTeam.get(team)?.length ?? 0,
    push(team: string, enter: Enter) {
      const waiting = byTeam.get(team);
      if (waiting === undefined) byTeam.set(team, [enter]);
      else waiting.push(enter);
    },
    shift(): Enter | undefined {
      for (const [team, waiting] of byTeam) {
        byTeam.delete(team);
        const first = waiting.shift();
        if (waiting.length > 0) byTeam.set(team, waiting);
        return first;
      }
      return undefined;
    },
    clear: () => {
      const all = [...byTeam.values()].flat();
      byTeam.clear();
      return all;
    },
  };
}
