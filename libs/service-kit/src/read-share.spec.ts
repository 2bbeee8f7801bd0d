import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { createReadShare } from './read-share.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it('long reads rest 20 ms together while other requests are under way', async () => {
  const clock = createFakeClock();
  const share = createReadShare(clock, { isBusy: () => true });
  let resumed = 0;
  for (let reader = 0; reader < 3; reader += 1) void share.giveWay()?.then(() => (resumed += 1));
  await nextTurn();
  await nextTurn();
  await clock.advance(19);
  expect(resumed).toBe(0);
  await clock.advance(1);
  await nextTurn();
  expect(resumed).toBe(3);
  // They work for 2 ms.
  expect(share.giveWay()).toBeUndefined();
  await clock.advance(2);
  expect(share.giveWay()).toBeDefined();
});

it('with nothing else under way, they only let the loop turn', async () => {
  const share = createReadShare(createFakeClock(), { isBusy: () => false });
  let isResumed = false;
  void share.giveWay()?.then(() => (isResumed = true));
  expect(isResumed).toBe(false);
  await nextTurn();
  await nextTurn();
  expect(isResumed).toBe(true);
});
