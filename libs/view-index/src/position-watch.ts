import { beginning, type Position } from '@tollgate/event-store';
import { type Clock, createPlaces } from '@tollgate/service-kit';

/** The most waiting calls, in all and of one team; a further one is answered at once as not reached. */
export const waitingMax = 1_000;
export const waitingOfTeamMax = 200;
/** Of those that wait though their callers did not ask for it: they leave room for those that did. */
export const briefMax = 250;
export const briefOfTeamMax = 50;

/** So long waits who did not ask for it: short enough to go unnoticed, milliseconds. */
const briefMs = 300;

/** After so many in a row that were in vain nobody waits briefly any more, until something moves. */
const inVainMax = 3;

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
  /**
   * As {@link waitFor} for who did not ask for it, up to 0.3 seconds. False at once where three such waits were in vain and
   * nothing has moved since: each call would be as slow.
   */
  waitBriefly(position: Position, team: string): Promise<boolean>;
  end(): void;
}

export function createPositionWatch(clock: Clock): PositionWatch {
  const waiting = new Set<{ position: Position; tell: (isReached: boolean) => void }>();
  const asked = createPlaces({ perHolderMax: waitingOfTeamMax, totalMax: waitingMax });
  const brief = createPlaces({ perHolderMax: briefOfTeamMax, totalMax: briefMax });
  let current = beginning;
  /** Brief waits in a row, since the position moved, that were in vain. */
  let inVain = 0;
  let isEnded = false;

  async function wait(position: Position, timeoutMs: number, leave: () => void): Promise<boolean> {
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
    leave();
    timer.abort();
    return isReached;
  }

  return {
    current: () => current,
    moveTo: (position) => {
      if (position <= current) return;
      current = position;
      inVain = 0;
      for (const each of waiting) if (each.position <= current) each.tell(true);
    },
    reset: (position) => {
      current = position;
      inVain = 0;
    },
    waitFor: async (position, timeoutMs, team) => {
      if (position <= current) return true;
      const leave = isEnded ? undefined : asked.take(team);
      return leave !== undefined && wait(position, timeoutMs, leave);
    },
    waitBriefly: async (position, team) => {
      if (position <= current) return true;
      const begunAt = current;
      const leave = isEnded || inVain >= inVainMax ? undefined : brief.take(team);
      if (leave === undefined) return false;
      const isReached = await wait(position, briefMs, leave);
      if (!isReached && current === begunAt) inVain += 1;
      return isReached;
    },
    end: () => {
      isEnded = true;
      for (const each of waiting) each.tell(false);
    },
  };
}
