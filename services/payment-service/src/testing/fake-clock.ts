import type { Clock } from '@tollgate/service-kit';

/** A clock that only moves when told to. */
export interface FakeClock extends Clock {
  /** Moves on, and lets everything that was asleep until then, and what it starts, run. */
  advance(byMs: number): Promise<void>;
  /** Lets everything run that can run without time passing. */
  settle(): Promise<void>;
}

interface Sleeper {
  wakesAt: number;
  wake: () => void;
}

const settlingTurns = 20;

export function createFakeClock(startsAt: number): FakeClock {
  let now = startsAt;
  const sleepers = new Set<Sleeper>();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < settlingTurns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    now: () => now,
    monotonic: () => now,
    sleep: (durationMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error);
        const sleeper = { wakesAt: now + durationMs, wake: () => resolve() };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason as Error);
        });
      }),
    settle,
    advance: async (byMs) => {
      const until = now + byMs;
      for (;;) {
        await settle();
        const next = [...sleepers].sort((one, other) => one.wakesAt - other.wakesAt)[0];
        if (next === undefined || next.wakesAt > until) break;
        now = Math.max(now, next.wakesAt);
        sleepers.delete(next);
        next.wake();
      }
      now = until;
      await settle();
    },
  };
}
