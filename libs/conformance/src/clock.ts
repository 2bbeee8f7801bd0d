/** Where time comes from. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Rejects when `signal` is aborted first. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

/** Repeats `probe` until it returns something, at most for `patienceMs`; then undefined. */
export async function poll<Found>(
  clock: Clock,
  patienceMs: number,
  probe: () => Found | undefined | Promise<Found | undefined>,
): Promise<Found | undefined> {
  const giveUpAt = clock.now() + patienceMs;
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 250)) {
    const found = await probe();
    if (found !== undefined || clock.now() >= giveUpAt) return found;
    await clock.sleep(pauseMs);
  }
}
