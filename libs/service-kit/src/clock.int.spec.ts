import { describe, expect, it } from 'vitest';
import { systemClock } from './clock.ts';

describe('systemClock.sleep', () => {
  it('sleeps for at least the given time', async () => {
    const startedAt = systemClock.monotonic();
    await systemClock.sleep(20);
    // Timers count whole milliseconds, and may be up to one early by the finer clock.
    expect(systemClock.monotonic() - startedAt).toBeGreaterThanOrEqual(19);
  });

  it('rejects with the reason of its signal, whether that is aborted before or meanwhile', async () => {
    const reason = new Error('stopped');
    await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const stopping = new AbortController();
    const sleeping = systemClock.sleep(60_000, stopping.signal);
    stopping.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });
});
