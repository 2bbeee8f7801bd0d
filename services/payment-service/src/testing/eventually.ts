import { systemClock } from '@tollgate/service-kit';

const pollMs = 10;

/** Waits until `probe` returns something other than undefined or false; fails with `what` after the deadline. */
export async function eventually<Value>(
  what: string,
  probe: () => Value | undefined | false | Promise<Value | undefined | false>,
  deadlineMs = 10_000,
): Promise<Value> {
  const giveUpAt = systemClock.monotonic() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (systemClock.monotonic() > giveUpAt) throw new Error(`Not within ${deadlineMs} ms: ${what}`);
    await systemClock.sleep(pollMs);
  }
}
