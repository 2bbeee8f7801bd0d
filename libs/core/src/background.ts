import type { Clock, Log } from '@tollgate/service-kit';

/** Pause before failed work is restarted. @unit milliseconds */
const restartPauseMs = 1_000;

export interface Background {
  /** Aborted when `stop` is called. */
  signal: AbortSignal;
  /** Runs work once; a failure is logged. */
  once(work: Promise<unknown>): void;
  /** Runs work until the stop; a failure is logged, and the work is restarted. */
  always(work: (signal: AbortSignal) => Promise<void>): void;
  /** Stops everything; resolves when it has ended. */
  stop(): Promise<void>;
}

export function createBackground({ clock, log }: { clock: Clock; log: Log }): Background {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Set<Promise<unknown>>();

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
    signal,
    once,
    always: (work) => once(untilStopped(work)),
    async stop() {
      stopping.abort();
      while (running.size > 0) await Promise.all([...running]);
    },
  };
}
