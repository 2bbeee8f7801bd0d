import { StoreUnavailable } from '@tollgate/event-store';
import { InvariantViolation, StartupError, silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { startExitCode, startPatiently } from './start-failure.ts';

const electing = () => new StoreUnavailable('store_not_leader', 'The event store is electing a leader.');

/** Starts while time passes; each try fails with `failure`. */
async function tryToStart(failure: (tryNumber: number) => Error | undefined) {
  const clock = createFakeClock({ now: 0 });
  let tries = 0;
  const started = startPatiently({ clock, log: silentLog }, () => {
    tries += 1;
    const error = failure(tries);
    return error === undefined ? Promise.resolve('started') : Promise.reject(error);
  }).catch((error: unknown) => error);
  let isOver = false;
  void started.finally(() => (isOver = true));
  const outcome = async () => {
    while (!isOver) await clock.advance(500);
    return started;
  };
  return { outcome: await outcome(), tries, tookMs: clock.monotonic() };
}

// A process that started while the store elected a leader ended with exit code 1, and took all services with it.
it('a start waits until the store has elected a leader', async () => {
  const { outcome, tries } = await tryToStart((tryNumber) => (tryNumber < 10 ? electing() : undefined));
  expect([outcome, tries]).toEqual(['started', 10]);
});

it('a start that takes too long ends with the message of the missing part, and may be retried', async () => {
  const { outcome, tookMs } = await tryToStart(electing);
  expect(outcome).toBeInstanceOf(StartupError);
  expect(outcome).toMatchObject({
    message: 'The event store is electing a leader. Resolve this, then start again.',
    retryable: true,
  });
  expect(tookMs).toBeGreaterThanOrEqual(30_000);
  expect(tookMs).toBeLessThan(32_000);
});

it('a permanent failure ends a start at once, unchanged', async () => {
  for (const error of [
    new StartupError('port_taken', 'Taken.'),
    new InvariantViolation('no'),
    new Error('x'),
  ])
    expect(await tryToStart(() => error)).toMatchObject({ outcome: error, tries: 1 });
});

it.each([
  ['config_invalid', false, 78],
  ['port_taken', false, 1],
  ['store_unreachable', true, 75],
])('%s ends a program with the exit code that its supervisor needs', (code, retryable, exitCode) => {
  expect(startExitCode(new StartupError(code, '', { retryable }))).toBe(exitCode);
});
