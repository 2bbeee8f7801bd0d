import { silentLog, systemClock, systemIds, type Log } from '@tollgate/service-kit';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { temporaryStore } from '../testing/index.ts';
import type { EventStore, Position } from '../event-store.ts';
import { createCheckpoint, positionSchema } from './checkpoint.ts';

const at = (number: number) => number.toString().padStart(16, '0') as Position;
const stream = 'checkpoint-spec';
const schema = z.object({ position: positionSchema, note: z.string() });
const valueAt = (number: number, note = '') => ({ position: at(number), note });

async function open(store: EventStore, { log = silentLog, clock = systemClock } = {}) {
  const checkpoint = createCheckpoint({ store, clock, ids: systemIds, log, stream, schema });
  return { checkpoint, last: await checkpoint.read() };
}

test('is absent at first, and read back as written; one is kept', async () => {
  const store = await temporaryStore();
  const { checkpoint, last } = await open(store);
  expect(last).toBeUndefined();
  await checkpoint.advance(valueAt(6));
  const end = await checkpoint.advance(valueAt(7, 'so far'));
  expect((await open(store)).last).toEqual(valueAt(7, 'so far'));
  const events = await Array.fromAsync(store.read(stream));
  expect(events.map(({ position }) => position)).toEqual([end]);
});

// It had detected this once, and then knew the other's revision: its next stale write was accepted.
test('one that was overtaken does not go back, however often it advances, until it is ahead', async () => {
  const store = await temporaryStore();
  const { checkpoint: slow } = await open(store);
  const { checkpoint: fast } = await open(store);
  const end = await fast.advance(valueAt(9, 'fast'));
  for (const behind of [5, 6, 8]) expect(await slow.advance(valueAt(behind, 'slow'))).toBe(end);
  expect((await open(store)).last).toEqual(valueAt(9, 'fast'));
  await slow.advance(valueAt(11, 'slow'));
  expect((await open(store)).last).toEqual(valueAt(11, 'slow'));
});

test('of a replaced follower is not written, and reports the take-over', async () => {
  const store = await temporaryStore();
  const { checkpoint: first } = await open(store);
  expect(await first.replace(valueAt(1))).toMatchObject({ kind: 'appended', revision: 0 });
  expect(await first.isLast()).toBe(true);
  const { checkpoint: second } = await open(store);
  expect(await second.isLast()).toBe(true);
  await second.replace(valueAt(1, 'mine'));
  expect(await first.isLast()).toBe(false);
  expect(await first.replace(valueAt(2))).toMatchObject({ kind: 'conflict' });
  expect((await open(store)).last).toEqual(valueAt(1, 'mine'));
});

test('that cannot be read counts as absent, with an error log', async () => {
  const store = await temporaryStore();
  const event = { id: systemIds.uuid(), type: 'CheckpointMoved', data: { of: 'another' }, metadata: {} };
  await store.append(stream, [event], 'no-stream');
  const error = vi.fn<Log['error']>();
  const { checkpoint, last } = await open(store, { log: { ...silentLog, error } });
  expect(last).toBeUndefined();
  expect(error).toHaveBeenCalledOnce();
  await checkpoint.advance(valueAt(3));
  expect((await open(store)).last).toEqual(valueAt(3));
});

test('reports how long ago this follower wrote it', async () => {
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const { checkpoint } = await open(await temporaryStore(), { clock });
  expect(checkpoint.ageMs()).toBe(Infinity);
  await checkpoint.advance(valueAt(1));
  now = 1_500;
  expect(checkpoint.ageMs()).toBe(1_500);
});
