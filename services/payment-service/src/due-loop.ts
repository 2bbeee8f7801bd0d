import type { Clock, Log } from '@tollgate/service-kit';

/** Pause after a failure of the work itself. */
const pauseAfterFailureMs = 1_000;
/** The loop runs at least this often: what falls due later than that needs no wake-up. */
const idleMs = 60_000;

/**
 * Runs `work` whenever something is due. `work` resolves with the next due time, if any.
 *
 * `now` is the service's time, `sleep` uses real time. Code that advances the service's time calls `wake`.
 */
export function createDueLoop(deps: {
  name: string;
  now: () => number;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
  work: () => Promise<number | undefined> | number | undefined;
}) {
  const { name, now, clock, log, work } = deps;
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
    await clock.sleep(Math.max(0, dueAt - now()), sleep.signal).catch(() => {});
    signal.removeEventListener('abort', endSleep);
    endSleep = () => {};
  };
  return {
    /** Runs at once: due times may have changed in any way. */
    wake,
    /** Runs until `signal` is aborted. */
    run: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        isWoken = false;
        await sleepUntil(await nextLook(), signal);
      }
    },
  };
}
