import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { createLookOnRead } from './look-on-read.ts';

function start() {
  const clock = createFakeClock();
  const looks: string[] = [];
  return { clock, looks, read: createLookOnRead({ clock, look: (token) => looks.push(token) }) };
}

it('looks once for all who read within five seconds, then again', async () => {
  const { clock, looks, read } = start();
  for (const token of ['a', 'a', 'b', 'a']) read(token);
  expect(looks).toEqual(['a', 'b']);
  await clock.advance(4_999);
  read('a');
  expect(looks).toEqual(['a', 'b']);
  await clock.advance(1);
  read('a');
  expect(looks).toEqual(['a', 'b', 'a']);
});

it('leaves what is too much at once to the schedule, and remembers no more than that', async () => {
  const { clock, looks, read } = start();
  for (let count = 0; count < 10_500; count += 1) read(`token-${count}`);
  expect(looks).toHaveLength(10_000);
  await clock.advance(5_000);
  read('token-10499');
  expect(looks).toHaveLength(10_001);
});
