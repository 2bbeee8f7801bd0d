import { expect, it } from 'vitest';
import { once } from './once.ts';

it('computes at the first call only, even if the result is undefined', () => {
  let calls = 0;
  const get = once((): string | undefined => {
    calls += 1;
    return undefined;
  });
  expect(calls).toBe(0);
  expect([get(), get(), calls]).toEqual([undefined, undefined, 1]);
});

it('tries again after a failure', () => {
  const given = ['not yet', undefined];
  const get = once((): string | undefined => {
    const failure = given.shift();
    if (failure !== undefined) throw new Error(failure);
    return 'made';
  });
  expect(get).toThrow('not yet');
  expect([get(), get()]).toEqual(['made', 'made']);
});
