import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { createQuietPeriods } from '../outbound/quiet-periods.ts';
import { cause, times } from '../testing/harness.ts';
import { awaitOutcome, inquireBriefly } from './await-outcome.ts';
import { windowAt } from '../domain/outbound-call/outbound-call.ts';

const never = () => new Promise<never>(() => undefined);

// The call of this process was awaited without a bound, and only then did the five seconds begin.
it("the wait for calls of this process counts towards the caller's maximum", async () => {
  const clock = createFakeClock();
  const repository = { load: () => Promise.resolve('aggregate') };
  const quietPeriods = createQuietPeriods({ clock, times });
  const deps = { sender: { settled: never }, inquire: never, clock, quietPeriods };
  const window = windowAt(clock.now(), { ...times, callDeadlineMs: 60_000 });
  const waiting = awaitOutcome(deps, {
    repository,
    token: 'a',
    cause,
    awaited: () => ({ kind: 'answer', window }),
  });
  let ended: unknown = 'waiting';
  void waiting.then((aggregate) => (ended = aggregate));
  await clock.advance(4_999);
  expect(ended).toBe('waiting');
  await clock.advance(1);
  expect(ended).toBeUndefined();
});

it('a state that a replaced leader no longer shows is not an outcome', async () => {
  const clock = createFakeClock();
  const quietPeriods = createQuietPeriods({ clock, times });
  const deps = { sender: { settled: async () => undefined }, inquire: never, clock, quietPeriods };
  const repository = { load: () => Promise.resolve(undefined) };
  const awaited = () => ({ kind: 'nothing' }) as const;
  const waiting = awaitOutcome(deps, { repository, token: 'a', cause, awaited });
  await expect(waiting).rejects.toMatchObject({ code: 'store_unconfirmed', retryable: true });
});

it('a slow inquiry is awaited as long as a caller may wait', async () => {
  const clock = createFakeClock();
  let result: unknown = 'waiting';
  void inquireBriefly({ inquire: never, clock }, { token: 'a', cause }).then(
    (inquired) => (result = inquired),
  );
  await clock.advance(4_999);
  expect(result).toBe('waiting');
  await clock.advance(1);
  expect(result).toBe('failed');
});

it('a rejected inquiry has failed, and no timer remains', async () => {
  const clock = createFakeClock();
  const inquire = () => Promise.reject(new Error('the store is gone'));
  expect(await inquireBriefly({ inquire, clock }, { token: 'a', cause })).toBe('failed');
  expect(clock.sleeperCount()).toBe(0);
});
