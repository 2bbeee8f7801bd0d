/** A `Clock` of the service kit by structure; this library imports no other, so that every other may use it. */
export interface FakeClock {
  now(): number;
  /** Counts from 0, so that confusing it with `now()` is detected. */
  monotonic(): number;
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
  after(durationMs: number, action: () => void): () => void;
  /**
   * Advances time. Sleepers wake in due order, each at its own time, and the work they start runs before the next one wakes.
   * `advance(0)` runs all work
   * that needs no time.
   */
  advance(durationMs: number): Promise<void>;
  /** How many are asleep. */
  sleeperCount(): number;
}

interface Sleeper {
  wakesAt: number;
  wake: () => void;
}

/** Turns of the event loop between two sleepers: a turn runs all microtasks, and some code waits for a few turns. */
const turnsBetween = 10;

/** A clock that stands still until it is advanced. `now` is its first time, milliseconds since the Unix epoch. */
export function createFakeClock({ now: startedAt = Date.UTC(2030, 0, 1) }: { now?: number } = {}): FakeClock {
  let now = startedAt;
  const sleepers = new Set<Sleeper>();

  const sleep = (durationMs: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        wakesAt: now + durationMs,
        wake: () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', abort);
          resolve();
        },
      };
      sleepers.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
    });

  const after = (durationMs: number, action: () => void): (() => void) => {
    const wake = () => {
      sleepers.delete(sleeper);
      action();
    };
    const sleeper: Sleeper = { wakesAt: now + durationMs, wake };
    sleepers.add(sleeper);
    return () => void sleepers.delete(sleeper);
  };

  const advance = async (durationMs: number): Promise<void> => {
    const until = now + durationMs;
    await letRun();
    for (
      let next = earliest(sleepers);
      next !== undefined && next.wakesAt <= until;
      next = earliest(sleepers)
    ) {
      now = Math.max(now, next.wakesAt);
      next.wake();
      await letRun();
    }
    now = until;
  };

  return {
    now: () => now,
    monotonic: () => now - startedAt,
    sleep,
    after,
    advance,
    sleeperCount: () => sleepers.size,
  };
}

function earliest(sleepers: Iterable<Sleeper>): Sleeper | undefined {
  let first: Sleeper | undefined;
  for (const sleeper of sleepers) if (first === undefined || sleeper.wakesAt < first.wakesAt) first = sleeper;
  return first;
}

async function letRun(): Promise<void> {
  for (let turn = 0; turn < turnsBetween; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
