import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { createBatchAge, restAfter } from './batch-age.ts';

// At 250 creations a second a follower on EventStoreDB never caught up, and waited until its batch was full.
it('a batch is due when its first event has waited for 200 ms, however many have arrived since', async () => {
  const clock = createFakeClock();
  const age = createBatchAge(clock);
  expect(age.isDueWith()).toBe(false);
  await clock.advance(199);
  expect(age.isDueWith()).toBe(false);
  await clock.advance(1);
  expect(age.isDueWith()).toBe(true);
  age.restart();
  expect(age.isDueWith()).toBe(false);
});

async function restOf(events: number): Promise<number> {
  const clock = createFakeClock();
  const { signal } = new AbortController();
  const resting = restAfter(events, { clock, signal });
  while (clock.sleeperCount() > 0) await clock.advance(1);
  await resting;
  return clock.monotonic();
}

it('a follower rests longer after more events, and not at a low rate', async () => {
  expect(await Promise.all([0, 7, 8, 60, 5_000].map(restOf))).toEqual([0, 0, 16, 120, 200]);
});

it('a rest ends when the follower is stopped', async () => {
  const stopping = new AbortController();
  const resting = restAfter(100, { clock: createFakeClock(), signal: stopping.signal });
  stopping.abort();
  await expect(resting).resolves.toBeUndefined();
});
