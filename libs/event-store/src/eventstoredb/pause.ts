import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits in real time, and never longer than until the signal is aborted. This is the adapter's own timer: a subscription
 * must also recover under a clock that a test has stopped.
 */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await delay(durationMs, undefined, { ref: false, signal }).catch(() => undefined);
}
