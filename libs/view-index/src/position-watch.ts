import { beginning, type Position } from '@tollgate/event-store';
import type { Clock } from '@tollgate/service-kit';

/** The most waiting calls, in all and of one team; a further one is answered at once as not reached. */
export const waitingMax = 1_000;
export const waitingOfTeamMax = 200;

/** A moving position, and the calls that wait for it. */
export interface PositionWatch {
  current(): Position;
  /** Moves to `position`, if that is later. */
  moveTo(position: Position): void;
  /** Starts again, from the beginning or an earlier position. */
  reset(position: Position): void;
  /**
   * True as soon as `current()` has reached `position`, false after `timeoutMs` or when the watch has ended.
   *
   * @param team the waiting caller's: calls for a distant position must not crowd out other teams
   */
  waitFor(position: Position, timeoutMs: number, team: string): Promise<boolean>;
  end(): void;
}

export function createPositionWatch(clock: Clock): PositionWatch {
  const waiting = new Set<{ position: Position; tell: (isReached: boolean) => void }>();
  const waitingOf = new Map<string, number>();
  let current = beginning;
  let isEnded = false;

  function leave(team: string): void {
    const left = (waitingOf.get(team) ?? 0) - 1;
    if (left > 0) waitingOf.set(team, left);
    else waitingOf.delete(team);
  }

  return {
    current: () => current,
    moveTo: (position) => {
      if (position <= current) return;
      current = position;
      for (const each of waiting) if (each.position <= current) each.tell(true);
    },
    reset: (position) => {
      current = position;
    },
    waitFor: async (position, timeoutMs, team) => {
      if (position <= current) return true;
      const ofTeam = waitingOf.get(team) ?? 0;
      if (isEnded || waiting.size >= waitingMax || ofTeam >= waitingOfTeamMax) return false;
      waitingOf.set(team, ofTeam + 1);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const waiter = { position, tell: resolve };
      const timer = new AbortController();
      waiting.add(waiter);
      clock.sleep(timeoutMs, timer.signal).then(
        () => resolve(false),
        () => undefined,
      );
      const isReached = await promise;
      waiting.delete(waiter);
      leave(team);
      timer.abort();
      return isReached;
    },
    end: () => {
      isEnded = true;
      for (const each of waiting) each.tell(false);
    },
  };
}
