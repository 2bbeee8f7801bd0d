import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { createOwnPositions } from './own-positions.ts';

it('remembers the last position of each key, and for five seconds', async () => {
  const clock = createFakeClock();
  const positions = createOwnPositions(clock);
  positions.note('Bearer a', '1');
  positions.note('Bearer a', '2');
  positions.note('Bearer b', '3');
  expect([positions.positionOf('Bearer a'), positions.positionOf('Bearer b')]).toEqual(['2', '3']);
  await clock.advance(4_999);
  expect(positions.positionOf('Bearer a')).toBe('2');
  await clock.advance(1);
  expect(positions.positionOf('Bearer a')).toBeUndefined();
});

// Two concurrent commands: the answer to the first came after that to the second, and its write was not awaited.
it('remembers the later of two positions, in any order of the answers', async () => {
  const clock = createFakeClock();
  const positions = createOwnPositions(clock);
  positions.note('Bearer a', '0018');
  await clock.advance(3_000);
  positions.note('Bearer a', '0017');
  expect(positions.positionOf('Bearer a')).toBe('0018');
  await clock.advance(3_000);
  positions.note('Bearer a', '0019');
  expect(positions.positionOf('Bearer a')).toBe('0019');
});

it('remembers a repeated position for five seconds as well', async () => {
  const clock = createFakeClock();
  const positions = createOwnPositions(clock);
  for (let second = 0; second < 5; second += 1) {
    positions.note('Bearer a', '1');
    expect(positions.positionOf('Bearer a')).toBe('1');
    await clock.advance(1_000);
  }
  expect(positions.positionOf('Bearer a')).toBeUndefined();
});

// After a restore from a backup positions restart: new writes of the key were never awaited.
it('remembers an earlier position once the later one is forgotten', async () => {
  const clock = createFakeClock();
  const positions = createOwnPositions(clock);
  positions.note('Bearer a', '0099');
  await clock.advance(5_000);
  positions.note('Bearer a', '0050');
  expect(positions.positionOf('Bearer a')).toBe('0050');
});

it('remembers nothing of those without a key, and of answers without a position', () => {
  const positions = createOwnPositions(createFakeClock());
  positions.note(undefined, '1');
  positions.note('Bearer a', undefined);
  expect([positions.positionOf(undefined), positions.positionOf('Bearer a')]).toEqual([undefined, undefined]);
});

it('drops the entry with the oldest progress if there are too many', () => {
  const positions = createOwnPositions(createFakeClock(), 2);
  for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) positions.note(key, String(index));
  expect(['a', 'b', 'c'].map((key) => positions.positionOf(key))).toEqual(['2', undefined, '3']);
});
