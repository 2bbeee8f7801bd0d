import type { Clock } from '@tollgate/service-kit';

/** How long followers work before they let others, milliseconds: a request waits behind that. */
const stretchMsMin = 2;
/** And where others need longer than that themselves: as long as they, so that followers keep up, up to this. */
const stretchMsMax = 20;

/** What several followers of a process take of the event loop together. */
export interface LoopShare {
  /**
   * To be asked between two pieces of work. Undefined: go on. Otherwise wait for it: whatever else is ready runs first, and
   * those who wait here take turns.
   */
  giveWay(): Promise<void> | undefined;
}

export function createLoopShare(clock: Pick<Clock, 'monotonic'>): LoopShare {
  const waiting: (() => void)[] = [];
  let stretch: { endsAt: number; gaveWayAt?: number } | undefined;
  let isTurnPlanned = false;

  function planTurn(): void {
    if (isTurnPlanned) return;
    isTurnPlanned = true;
    setImmediate(() => void turn());
  }

  async function turn(): Promise<void> {
    isTurnPlanned = false;
    const now = clock.monotonic();
    const others = now - (stretch?.gaveWayAt ?? now);
    stretch = undefined;
    if (waiting.length === 0) return;
    const { endsAt } = (stretch = {
      endsAt: now + Math.min(Math.max(others, stretchMsMin), stretchMsMax),
    });
    planTurn();
    // What each then does goes on in between.
    while (waiting.length > 0 && clock.monotonic() < endsAt) {
      waiting.shift()?.();
      await Promise.resolve();
    }
  }

  return {
    giveWay: () => {
      const now = clock.monotonic();
      stretch ??= { endsAt: now + stretchMsMin };
      planTurn();
      if (now < stretch.endsAt) return undefined;
      stretch.gaveWayAt ??= now;
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
