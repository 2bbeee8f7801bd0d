import { setTimeout as delay } from 'node:timers/promises';

/** The source of time. Everything outside `main.ts` and the adapters gets it as a parameter. */
export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary origin that never decrease; for measuring durations. */
  monotonic(): number;
  /** Resolves after `durationMs`; rejects with the signal's reason when it is aborted first. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
  /** Calls `action` after `durationMs`, unless the function that is returned is called first. */
  after(durationMs: number, action: () => void): () => void;
}

/**
 * Settles as `work` does, or rejects with the error of `tooLate` after `waitMs`. Late work continues, and its rejection is
 * ignored.
 */
export function within<Result>(
  clock: Pick<Clock, 'after'>,
  waitMs: number,
  { work, tooLate }: { work: Promise<Result>; tooLate: () => Error },
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(waitMs, () => reject(tooLate()));
    work.then(resolve, reject);
    work.then(cancel, cancel);
  });
}

/** The same, but undefined if `work` is late. */
export function valueWithin<Result>(
  clock: Pick<Clock, 'after'>,
  waitMs: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(waitMs, () => resolve(undefined));
    work.then(resolve, reject);
    work.then(cancel, cancel);
  });
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (durationMs, signal) => {
    try {
      await delay(durationMs, undefined, signal === undefined ? {} : { signal });
    } catch {
      // Node rejects with its own error that has the reason as its cause.
      throw signal?.reason;
    }
  },
  after: (durationMs, action) => {
    const timer = setTimeout(action, durationMs);
    return () => clearTimeout(timer);
  },
};
