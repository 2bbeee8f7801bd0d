/**
 * On a full disk every request was refused with 503 while `/readyz` reported the gateway as ready: no load balancer removed it,
 * and no alert fired.
 */
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { StoreUnavailable } from '../errors.ts';
import { refusalCountsMs, watchDiskRoom } from './embedded-event-store.ts';

const start = () => {
  const clock = createFakeClock();
  const room = watchDiskRoom(clock);
  const refuse = (code: string) =>
    expect(room.noting(Promise.reject(new StoreUnavailable(code, 'so')))).rejects.toMatchObject({ code });
  return { clock, room, refuse };
};

it('there is room until an append is refused for want of it, and when one succeeds again', async () => {
  const { room, refuse } = start();
  expect(room.isThere()).toBe(true);
  await refuse('store_full');
  expect(room.isThere()).toBe(false);
  expect(await room.noting(Promise.resolve(7))).toBe(7);
  expect(room.isThere()).toBe(true);
});

it('other failures do not change it', async () => {
  const { room, refuse } = start();
  await refuse('store_busy');
  expect(room.isThere()).toBe(true);
  await refuse('store_full');
  await refuse('store_busy');
  expect(room.isThere()).toBe(false);
});

it('a refusal expires: without appends, free space would never be noticed', async () => {
  const { clock, room, refuse } = start();
  await refuse('store_full');
  await clock.advance(refusalCountsMs);
  expect(room.isThere()).toBe(false);
  await clock.advance(1);
  expect(room.isThere()).toBe(true);
});
