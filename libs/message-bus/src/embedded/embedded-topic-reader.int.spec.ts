import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventStore } from '@tollgate/event-store';
import { openStoreInThread, temporaryStore } from '@tollgate/event-store/testing';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { describeTopicReader } from '../testing/topic-reader.contract.ts';
import { createEmbeddedMessageBus, createEmbeddedTopicReader } from './embedded-message-bus.ts';
import { topicStream } from './records.ts';

const openBus = (store: EventStore) =>
  createEmbeddedMessageBus({ store, clock: systemClock, ids: systemIds, holder: 'test' });

describeTopicReader('the embedded topic reader', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'topic-reader-'));
  // One store is the gateway's, the other that of the process next to it which reads.
  const stores = await Promise.all(
    [1, 2].map(() => openStoreInThread({ file: join(directory, 'events.db') })),
  );
  return {
    bus: openBus(stores[0]!),
    openAnother: async () => openBus(stores[1]!),
    reader: createEmbeddedTopicReader({ store: stores[1]! }),
    freshTopic: async () => `topic-${randomUUID()}`,
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await rm(directory, { recursive: true });
    },
  };
});

it('writes nothing at all', async () => {
  const store = await temporaryStore();
  const written: string[] = [];
  const watched: EventStore = {
    ...store,
    append: (stream, ...others) => {
      written.push(stream);
      return store.append(stream, ...others);
    },
  };
  await openBus(store).publish('topic', [{ key: 'k', value: new Uint8Array(), headers: {} }]);
  const reader = createEmbeddedTopicReader({ store: watched });
  const { signal } = new AbortController();
  expect(await Array.fromAsync(reader.readTopic('topic', { from: 'beginning', signal }))).toHaveLength(1);
  expect(await Array.fromAsync(reader.readTopic('none', { from: 'beginning', signal }))).toEqual([]);
  expect(written).toEqual([]);
});

it('ends if the records that existed at its start were deleted', async () => {
  const store = await temporaryStore();
  const bus = openBus(store);
  const publish = (count: number) =>
    bus.publish(
      'topic',
      Array.from({ length: count }, () => ({ key: 'k', value: new Uint8Array(), headers: {} })),
    );
  await publish(2);
  let reads = 0;
  const trimming: EventStore = {
    ...store,
    subscribe: (options) =>
      (async function* () {
        reads += 1;
        await publish(5);
        await store.truncate(topicStream('topic'), 5);
        yield* store.subscribe(options);
      })(),
  };
  const { signal } = new AbortController();
  const records = createEmbeddedTopicReader({ store: trimming }).readTopic('topic', {
    from: 'beginning',
    signal,
  });
  expect([await Array.fromAsync(records), reads]).toEqual([[], 1]);
});

it('returns everything after the first record of its time, even if the clock was set back', async () => {
  const store = await temporaryStore();
  const times = [10, 5, 20];
  const withTimes: EventStore = {
    ...store,
    subscribe: (options) =>
      (async function* () {
        for await (const item of store.subscribe(options))
          yield item.kind === 'event' ? { ...item, recordedAt: times[item.revision] ?? 0 } : item;
      })(),
  };
  const messages = times.map((time) => ({ key: 'k', value: Buffer.from(String(time)), headers: {} }));
  await openBus(store).publish('topic', messages);
  const reader = createEmbeddedTopicReader({ store: withTimes });
  const timesFrom = async (timestamp: number) => {
    const { signal } = new AbortController();
    const records = await Array.fromAsync(reader.readTopic('topic', { from: { timestamp }, signal }));
    return records.map((record) => record.timestamp);
  };
  expect(await timesFrom(8)).toEqual([10, 5, 20]);
  expect(await timesFrom(11)).toEqual([20]);
});
