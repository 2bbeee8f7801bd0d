import { TollgateError, silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { untilItWorks, type RetryOptions } from './retrying.ts';

const passing = new TollgateError('busy', 'It is busy in this test.', { retryable: true });

/** A clock whose sleepers sleep no time, and which remembers how long they wanted to. */
function given(options: Partial<RetryOptions> = {}) {
  const pauses: number[] = [];
  const clock = { ...createFakeClock(), sleep: async (durationMs: number) => void pauses.push(durationMs) };
  const { signal } = new AbortController();
  return { pauses, options: { clock, log: silentLog, signal, fields: {}, ...options } };
}

/** Fails so many times, then succeeds. */
function failing(times: number, error: unknown) {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries <= times) throw error;
    return tries;
  };
}

describe('untilItWorks', () => {
  it('gives the result of the first try that works', async () => {
    const { options } = given();
    expect(await untilItWorks(options, failing(3, passing))).toEqual({ result: 4 });
  });

  it('pauses longer each time, up to 30 seconds', async () => {
    const { options, pauses } = given();
    await untilItWorks(options, failing(11, passing));
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  });

  it('throws what is not retryable', async () => {
    const { options, pauses } = given();
    await expect(untilItWorks(options, failing(1, new TypeError('a mistake')))).rejects.toThrow('a mistake');
    expect(pauses).toEqual([]);
  });

  it('retries everything where it is asked to', async () => {
    const { options } = given({ mayTryAgain: () => true });
    expect(await untilItWorks(options, failing(1, new TypeError('a mistake')))).toEqual({ result: 2 });
  });

  it('tries once although the signal is aborted, and not again', async () => {
    const { options } = given({ signal: AbortSignal.abort() });
    expect(await untilItWorks(options, failing(0, passing))).toEqual({ result: 1 });
    expect(await untilItWorks(options, failing(1, passing))).toBeUndefined();
  });

  it('ends its pause when the signal is aborted', async () => {
    const [controller, clock] = [new AbortController(), createFakeClock()];
    const { options } = given({ clock, signal: controller.signal });
    const trying = untilItWorks(options, failing(9, passing));
    await clock.advance(0);
    expect(clock.sleeperCount()).toBe(1);
    controller.abort();
    expect(await trying).toBeUndefined();
  });
});
