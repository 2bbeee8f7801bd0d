import type { Clock, Log } from '@tollgate/service-kit';

/** After a failure of the work itself the loop runs again after this pause. */
const pauseAfterFailureMs = 1_000;
/** With nothing due the loop still runs this often, lest a missed wake-up last indefinitely. */
const idleMs = 60_000;

/**
 * Runs `work` whenever something is due. `work` gives the time at which the next thing is due, if it knows one.
 *
 * `now` is the service's time, `sleep` passes real time: the code that moves the service's time calls `wake`.
 */
export function createDueLoop(deps: {
  name: string;
  now: () => number;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
  work: () => Promise<number | undefined> | number | undefined;
}) {
  const { name, now, clock, log, work } = deps;
  let sleepsUntil = Number.NEGATIVE_INFINITY;
  let isWoken = false;
  let endSleep = (): void => {};

  const wake = (): void => {
    isWoken = true;
    endSleep();
  };
  const nextLook = async (): Promise<number> => {
    try {
      return Math.min((await work()) ?? Number.POSITIVE_INFINITY, now() + idleMs);
    } catch (error) {
      log.error({ operation: name, error }, 'due work failed; retrying');
      return now() + pauseAfterFailureMs;
    }
  };
  const sleepUntil = async (dueAt: number, signal: AbortSignal): Promise<void> => {
    if (isWoken || signal.aborted) return;
    const sleep = new AbortController();
    endSleep = () => sleep.abort();
    signal.addEventListener('abort', endSleep, { once: true });
    sleepsUntil = dueAt;
    await clock.sleep(Math.max(0, dueAt - now()), sleep.signal).catch(() => {});
    sleepsUntil = Number.NEGATIVE_INFINITY;
    signal.removeEventListener('abort', endSleep);
    endSleep = () => {};
  };
  return {
    /** Runs at once: what is due may have changed in any way. */
    wake,
    /** Something falls due at `dueAt`: the loop runs no later than that. */
    expect: (dueAt: number): void => {
      if (sleepsUntil === Number.NEGATIVE_INFINITY || dueAt < sleepsUntil) wake();
    },
    /** Runs until `signal` is aborted. */
    run: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        isWoken = false;
        await sleepUntil(await nextLook(), signal);
      }
    },
  };
}
