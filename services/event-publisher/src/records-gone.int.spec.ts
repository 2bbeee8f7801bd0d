import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { eventIdHeader, gatewayPaymentsTopic } from '@tollgate/gateway-api';
import { type Log, silentLog } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { appendPayment } from '@tollgate/view-index/testing';
import { happening, requested } from '@tollgate/views/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkpointStream } from './checkpoint.ts';
import { expectPublishedOnce, storedEvents, untilAllArePublished } from './testing/expect-published.ts';
import { createHolder, hastyClock, startPublisher } from './testing/holder.ts';
import { type MemoryBus, createMemoryBus } from './testing/memory-bus.ts';

let store: EventStore;
let memory: MemoryBus;
let lost: { partition: number | undefined; count: number | undefined }[];

beforeEach(async () => {
  store = await temporaryStore();
  memory = createMemoryBus();
  lost = [];
});

const topic = gatewayPaymentsTopic;
const history = [requested(), happening.accepted, happening.pending, happening.approved];
const record = (token: string) => appendPayment(store, token, history);
const log: Log = {
  ...silentLog,
  error: ({ code, partition, count }) => code === 'records_gone' && void lost.push({ partition, count }),
};

/** Checkpoints are written once a second at most: time goes on when a test says so. */
let now = 0;
const clock = { ...hastyClock, monotonic: () => now };
const start = () => startPublisher({ store, bus: memory.bus, log, clock });
const lastOne = { direction: 'backwards', limit: 1 } as const;
const checkpoint = async () => (await Array.fromAsync(store.read(checkpointStream, lastOne)))[0];

/** Publishes some payments, and a last one whose checkpoint remembers them all. */
async function publishAndRemember(letter: string): Promise<void> {
  for (let number = 0; number < 6; number += 1) await record(`pay_${letter}${number}`);
  await untilAllArePublished(store, memory);
  now += 2_000;
  const before = await checkpoint();
  await record(`pay_${letter}last`);
  await untilAllArePublished(store, memory);
  await eventually(async () => expect((await checkpoint())?.revision).not.toBe(before?.revision));
}

const lengthOf = (partition: number) =>
  memory.recordsOf(topic).filter((each) => each.partition === partition).length;

/** Each event is there, and of each key its last copy comes behind the last copy of the event before. */
async function expectAllInOrder(): Promise<void> {
  const last = new Map(
    memory.recordsOf(topic).map(({ headers }, place) => [headers[eventIdHeader], place] as const),
  );
  const places = new Map<string, number>();
  for (const { id, stream } of await storedEvents(store)) {
    const place = last.get(id);
    expect(place, `${stream} ${id}`).toBeGreaterThan(places.get(stream) ?? -1);
    places.set(stream, place ?? -1);
  }
}

// 10 of 16 records were on the topic, and nothing reported the loss.
it('publishes again, once and in order, what a partition has lost while nobody published', async () => {
  const first = start();
  await publishAndRemember('a');
  await first.stop();
  const length = lengthOf(1);
  memory.lose(topic, 1, 3);
  start();
  await expectPublishedOnceInTheEnd();
  expect(lost).toEqual([{ partition: 1, count: length - 3 }]);
});

it('the same where nothing of a partition is left, and where several have lost some', async () => {
  const first = start();
  await publishAndRemember('a');
  await first.stop();
  memory.lose(topic, 0, 0);
  memory.lose(topic, 2, 1);
  start();
  await expectPublishedOnceInTheEnd();
  expect(lost.map(({ partition }) => partition)).toEqual([0, 2]);
});

it('notices it while it publishes, with the next checkpoint', async () => {
  start();
  await publishAndRemember('a');
  for (const partition of [0, 1, 2]) memory.lose(topic, partition, 0);
  now += 2_000;
  await record('pay_b');
  await eventually(() => expect(lost.length).toBeGreaterThanOrEqual(3));
  await eventually(expectAllInOrder);
  expect(memory.recordsOf(topic).at(0)?.key).toBe('pay_b');
});

/** With time going on at each look at it, so that a batch is one event and a checkpoint comes after every few. */
const quickly = { ...hastyClock, monotonic: () => (now += 300) };

describe('one that dies while it publishes again', () => {
  it.each([10, 20, 30, 45, 60, 75, 90])('after %i calls has the next one go on', async (calls) => {
    const first = start();
    await publishAndRemember('a');
    for (const partition of [0, 1, 2]) memory.lose(topic, partition, partition);
    // It comes behind the gap and would hide it, in the partition that is the last one to go on.
    const partition = await memory.bus.partitionOf(topic, 'pay_a2');
    const tokens = ['pay_b', 'pay_c', 'pay_d'].map(
      async (token) => [await memory.bus.partitionOf(topic, token), token] as const,
    );
    const token = new Map(await Promise.all(tokens)).get(partition) ?? '';
    await record(token);
    await eventually(() => expect(memory.recordsOf(topic).at(-1)?.key).toBe(token));
    await first.stop();
    const holder = createHolder({ store, bus: memory.bus });
    holder.killAt(calls, calls % 2 === 0);
    startPublisher({ ...holder, log, clock: quickly });
    await Promise.race([holder.died, eventually(expectAllInOrder)]);
    holder.kill();
    start();
    await eventually(expectAllInOrder);
  });
});

it('what is gone for its age or by hand stays gone: the partition has not become shorter', async () => {
  const first = start();
  await publishAndRemember('a');
  await first.stop();
  const before = await memory.bus.endPerPartition(topic);
  for (const partition of [0, 1, 2]) memory.lose(topic, partition, 0);
  const bus = { ...memory.bus, endPerPartition: async () => before };
  const second = startPublisher({ store, bus, log, clock });
  await record('pay_b');
  await eventually(() => expect(memory.recordsOf(topic).map(({ key }) => key)).toContain('pay_b'));
  await eventually(() => expect(second.health().lagMs).toBe(0));
  expect(new Set(memory.recordsOf(topic).map(({ key }) => key))).toEqual(new Set(['pay_b']));
  expect(lost).toEqual([]);
});

const expectPublishedOnceInTheEnd = () => eventually(() => expectPublishedOnce(store, memory));
