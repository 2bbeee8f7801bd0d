import { expect, it } from 'vitest';
import { createTurnQueue } from './turn-queue.ts';

function givenQueue(...entries: readonly string[]) {
  const queue = createTurnQueue<string>();
  for (const entry of entries) queue.push(entry[0] ?? '', entry);
  return queue;
}

it('groups take turns, and each is served in order', () => {
  const queue = givenQueue('a1', 'a2', 'a3', 'b1', 'c1', 'b2');
  const served = Array.from({ length: 7 }, () => queue.shift());
  expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  expect(queue.isEmpty()).toBe(true);
});

it('an entry leaves once, and its group keeps the others', () => {
  const queue = givenQueue('a1', 'a2', 'b1');
  expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('c', 'a2')]).toEqual([
    true,
    false,
    false,
  ]);
  expect([queue.has('a', 'a1'), queue.has('a', 'a2'), queue.has('b', 'a2')]).toEqual([false, true, false]);
  expect([queue.lengthOf('a'), queue.lengthOf('b'), queue.lengthOf('c')]).toEqual([1, 1, 0]);
  queue.remove('a', 'a2');
  expect(queue.shift()).toBe('b1');
});

it('is emptied at once, with every entry', () => {
  const queue = givenQueue('a1', 'b1', 'a2');
  expect(queue.clear().toSorted()).toEqual(['a1', 'a2', 'b1']);
  expect([queue.isEmpty(), queue.shift()]).toEqual([true, undefined]);
});
