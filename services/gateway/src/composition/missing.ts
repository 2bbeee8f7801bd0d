import type { Clock } from '@tollgate/service-kit';

const connectingMs = 5_000;
const lookEveryMs = 100;

/** What does not work yet at the end of a start, like /readyz; waits briefly for connections. */
export async function whatIsMissing(
  clock: Clock,
  ask: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const giveUpAt = clock.monotonic() + connectingMs;
  for (;;) {
    const missing = [...new Set(await ask())];
    if (missing.length === 0 || clock.monotonic() >= giveUpAt) return missing;
    await clock.sleep(lookEveryMs);
  }
}
