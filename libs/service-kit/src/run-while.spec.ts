import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { runWhile } from './run-while.ts';

// A process whose clock was a day ahead reconciled: a day that had not ended counted as compared, and was not repeated.
it('works while the condition holds, and releases the work otherwise', async () => {
  const clock = createFakeClock();
  const able = { now: false };
  const seen: string[] = [];
  const stopping = new AbortController();
  const running = runWhile({ isAble: () => able.now, clock }, stopping.signal, async (signal) => {
    seen.push('begun');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    seen.push('ended');
  });
  await clock.advance(5_000);
  expect(seen).toEqual([]);
  able.now = true;
  await clock.advance(2_000);
  expect(seen).toEqual(['begun']);
  able.now = false;
  await clock.advance(2_000);
  expect(seen).toEqual(['begun', 'ended']);
  able.now = true;
  await clock.advance(2_000);
  stopping.abort();
  await running;
  expect(seen).toEqual(['begun', 'ended', 'begun', 'ended']);
});

it('fails if its work fails', async () => {
  const clock = createFakeClock();
  const failing = runWhile({ isAble: () => true, clock }, new AbortController().signal, () =>
    Promise.reject(new Error('no')),
  );
  const failed = expect(failing).rejects.toThrow('no');
  await clock.advance(2_000);
  await failed;
});
