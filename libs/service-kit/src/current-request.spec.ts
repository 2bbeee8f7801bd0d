import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createRequestIds, instantOfRequestId, isRequestId } from './current-request.ts';

/** Two requests of one millisecond were listed in the random order of their ids. */
it('a later id is greater, even within a millisecond and if the clock is set back a little', () => {
  let now = 1_000;
  const next = createRequestIds({ clock: { now: () => now }, ids: { uuid: randomUUID } });
  const ids = [next(), next(), next()];
  now = 999;
  ids.push(next());
  now = 1_001;
  ids.push(next());
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.map(isRequestId)).toEqual([true, true, true, true, true]);
  expect(ids.map(instantOfRequestId)).toEqual([1_000, 1_000, 1_000, 1_000, 1_001]);
});

it('an id continues in the next millisecond if one has no number left', () => {
  const next = createRequestIds({ clock: { now: () => 1_000 }, ids: { uuid: randomUUID } });
  let last = next();
  for (let count = 0; count <= 0xffff; count += 1) {
    const id = next();
    if (id <= last) throw new Error(`${id} came after ${last}`);
    last = id;
  }
  expect(instantOfRequestId(last)).toBe(1_001);
});

it('a clock that was far ahead and is set right is believed', () => {
  let now = 9_000_000;
  const next = createRequestIds({ clock: { now: () => now }, ids: { uuid: randomUUID } });
  next();
  now = 1_000;
  expect(instantOfRequestId(next())).toBe(1_000);
});
