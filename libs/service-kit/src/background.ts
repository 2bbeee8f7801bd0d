import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** Pause before failed work is restarted. @unit milliseconds */
const restartPauseMs = 1_000;

export function createBackground({ clock, log }: { clock: Clock; log: Log }) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Set<Promise<unknown>>();

  /** Runs work once; a failure is logged. */
  function once(work: Promise<unknown>): void {
    const tracked = work
      .catch((error: unknown) => log.error({ error }, 'work in the background failed'))
      .finally(() => running.delete(tracked));
    running.add(tracked);
  }

  async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work(signal).catch((error: unknown) =>
        log.error({ error }, 'work in the background failed; it is restarted'),
      );
      await clock.sleep(restartPauseMs, signal).catch(() => undefined);
    }
  }

  return {
    /** Aborted when `stop` is called. */
    signal,
    once,
    /** Runs work until the stop; a failure is logged, and the work is restarted. */
    always: (work: (signal: AbortSignal) => Promise<void>) => once(untilStopped(work)),
    /** Stops everything; resolves when it has ended. */
    async stop() {
      stopping.abort();
      while (running.size > 0) await Promise.all([...running]);
    },
  };
}
