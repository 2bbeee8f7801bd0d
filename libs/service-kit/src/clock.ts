import { setTimeout as delay } from 'node:timers/promises';

/** Where time comes from. Everything outside `main.ts` and the adapters takes it as a parameter. */
export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary origin that only ever grow; for measuring how long something took. */
  monotonic(): number;
  /** Resolves after `durationMs`; rejects with the signal's reason when it is aborted first. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (durationMs, signal) => {
    try {
      await delay(durationMs, undefined, signal === undefined ? {} : { signal });
    } catch {
      // Node rejects with an error of its own that has the reason as its cause.
      throw signal?.reason;
    }
  },
};
