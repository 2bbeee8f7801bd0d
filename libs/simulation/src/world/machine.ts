/**
 * One machine with one process at a time: its clock, crashes and pauses. All input reaches a process through `deliver`: a crashed
 * process receives nothing, and a paused one receives its input on wake-up, in random order.
 */
import type { Clock } from '@tollgate/service-kit';
import type { GatewayProcess } from './process.ts';
import { createIds, type Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** Start of the true time, milliseconds since the Unix epoch: an ordinary afternoon. */
export const epochMs = Date.UTC(2030, 2, 5, 14, 0, 0);

export type Machine = ReturnType<typeof createMachine>;

export function createMachine(name: string, scheduler: Scheduler, random: Random) {
  let [skewMs, lives] = [0, 0];
  const begin = () => {
    lives += 1;
    const own = random.fork(`life ${lives}`);
    return beginLife(name, lives, { scheduler, random: own, skewMs: () => skewMs });
  };
  let current = begin();
  const machine = {
    name,
    /** Undefined until its start is complete. */
    process: undefined as GatewayProcess | undefined,
    /** The life of the current process. */
    life: (): Life => current,
    /** Starts a new process; the previous one must have crashed. */
    boot: (): Life => (current = begin()),
    crash: (): void => {
      current.end();
      machine.process = undefined;
    },
    /** Stops the process like SIGSTOP. */
    pause: (durationMs: number) => current.pauseUntil(scheduler.now() + durationMs, true),
    /** Suspends the whole machine: its monotonic clock does not count the time. */
    suspend: (durationMs: number) => current.pauseUntil(scheduler.now() + durationMs, false),
    /** Sets the wall clock, milliseconds ahead of the true time. */
    setSkew: (toMs: number) => void (skewMs = toMs),
    skewMs: () => skewMs,
  };
  return machine;
}

/** Longer than the delay of a delivery at waking. @unit milliseconds */
const wakingMs = 1.5;

interface LifeParts {
  scheduler: Scheduler;
  random: Random;
  skewMs: () => number;
}

interface Travel {
  thereMs: number;
  backMs: number;
}

export type Life = ReturnType<typeof beginLife>;

function beginLife(machine: string, count: number, { scheduler, random, skewMs }: LifeParts) {
  const name = `${machine}${count}`;
  let isAlive = true;
  let pausedUntil = 0;
  let uncountedMs = 0;
  const onCrash = new Set<() => void>();
  const isPaused = () => scheduler.now() < pausedUntil;

  /** Runs `action` in the process after `delayMs`, unless it has crashed by then, or the result is called first. */
  function deliver(delayMs: number, label: string, action: () => void): () => void {
    let cancel = scheduler.after(delayMs, `${name} ${label}`, arrive);
    function arrive(): void {
      if (!isAlive) return;
      if (isPaused()) {
        // Timers and answers that arrived during the pause are delivered together on wake-up, in random order.
        const delayMs = pausedUntil - scheduler.now() + random.fraction();
        cancel = scheduler.after(delayMs, `${name} wakes: ${label}`, arrive);
        return;
      }
      action();
    }
    return () => cancel();
  }

  /** A request to a peer: `atPeer` runs when the request arrives, and its answer travels back. */
  function ask<Answer>(label: string, { thereMs, backMs }: Travel, atPeer: () => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (!isAlive) return;
      // A sent request arrives even if its process crashes.
      scheduler.after(thereMs, `${name} asks ${label}`, () => {
        let answer: () => void;
        try {
          const given = atPeer();
          answer = () => resolve(given);
        } catch (error) {
          answer = () => reject(error);
        }
        deliver(backMs, `${label} answers`, answer);
      });
    });
  }

  return {
    name,
    machine,
    ids: createIds(random.fork('ids')),
    random,
    deliver,
    ask,
    isPaused,
    /** True while it handles what arrived during a pause. */
    isWaking: () => scheduler.now() >= pausedUntil && scheduler.now() < pausedUntil + wakingMs,
    clock: createClock({ scheduler, skewMs, uncountedMs: () => uncountedMs }, deliver),
    isAlive: () => isAlive,
    /** Breaks the connections of its peers. */
    onCrash: (action: () => void) => void onCrash.add(action),
    end: (): void => {
      isAlive = false;
      for (const action of [...onCrash]) action();
    },
    pauseUntil: (at: number, isCounted: boolean): void => {
      // The clock is not read until the process continues.
      if (!isCounted) uncountedMs += Math.max(0, at - Math.max(pausedUntil, scheduler.now()));
      pausedUntil = Math.max(pausedUntil, at);
    },
  };
}

function createClock(
  { scheduler, skewMs, uncountedMs }: Pick<LifeParts, 'scheduler' | 'skewMs'> & { uncountedMs: () => number },
  deliver: (delayMs: number, label: string, action: () => void) => () => void,
): Clock {
  const bootedAt = scheduler.now();
  return {
    now: () => Math.floor(epochMs + scheduler.now() + skewMs()),
    monotonic: () => scheduler.now() - bootedAt - uncountedMs(),
    sleep: (durationMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const cancel = deliver(durationMs, 'timer', () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        });
        const abort = () => {
          cancel();
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', abort, { once: true });
      }),
    after: (durationMs, action) => deliver(durationMs, 'timer', action),
  };
}
