import { createFakeClock } from '@tollgate/testing';
import { expect, test } from 'vitest';
import { requestCountsOn } from './request-counts.ts';

const windowMs = 1_000;
const requestersMax = 3;

function start() {
  const clock = createFakeClock();
  const Counts = requestCountsOn(clock, requestersMax);
  const counts = new Counts({});
  function count(requester: string, of = counts) {
    let answer: { current: number; ttl: number } | undefined;
    of.incr(requester, (_error, result) => (answer = result), windowMs, 1);
    return answer;
  }
  return { clock, counts, count };
}

test('requests of a window are counted for each requester alone', () => {
  const { count } = start();
  expect([count('a'), count('a'), count('b')].map((answer) => answer?.current)).toEqual([1, 2, 1]);
});

test('a window begins with a first request and shows the rest of its limit', async () => {
  const { clock, count } = start();
  await clock.advance(300);
  expect(count('a')).toEqual({ current: 1, ttl: 1_000 });
  await clock.advance(999);
  expect(count('a')).toEqual({ current: 2, ttl: 1 });
  await clock.advance(1);
  expect(count('a')).toEqual({ current: 1, ttl: 1_000 });
});

test('a child counts for itself', () => {
  const { counts, count } = start();
  const child = counts.child({} as never);
  count('a');
  expect(count('a', child)?.current).toBe(1);
});

test('at most the limit of requesters is kept; the oldest window is dropped', async () => {
  const { clock, count } = start();
  count('renewed');
  count('first');
  await clock.advance(windowMs);
  // Its second window makes it the younger of the two.
  count('renewed');
  for (let index = 0; index < requestersMax - 1; index += 1) count(`flood-${index}`);
  expect(count('renewed')?.current).toBe(2);
  expect(count('flood-0')?.current).toBe(2);
  count('one-more');
  expect(count('flood-0')?.current).toBe(3);
  expect(count('renewed')?.current).toBe(1);
});
