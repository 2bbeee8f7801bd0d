import type { EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import type { ReadTopicOptions } from '../message-bus.ts';
import { memberProbe, message, textOf, waiting } from '../testing/member-probe.ts';
import { createEmbeddedMessageBus, readEmbeddedTopic } from './embedded-message-bus.ts';
import { topicStream } from './records.ts';

const openBus = (store: EventStore) =>
  createEmbeddedMessageBus({ store, clock: systemClock, ids: systemIds, holder: 'test' });

/** One store is the gateway's, the other that of the process next to it which reads. */
async function givenTopic() {
  const file = await temporaryFile();
  const [writing, reading] = [await temporaryStore({ file }), await temporaryStore({ file })];
  const bus = openBus(writing);
  const publish = (...texts: string[]) =>
    bus.publish(
      'topic',
      texts.map((text) => message(`k${text}`, text)),
    );
  const read = (options: Partial<ReadTopicOptions> = {}) => {
    const { signal } = new AbortController();
    return readEmbeddedTopic(reading, 'topic', { from: 'beginning', signal, ...options });
  };
  return { bus, publish, read };
}

it('returns every record in order, as a consumer gets them, and ends', async () => {
  const { bus, publish, read } = await givenTopic();
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  await bus.publish('topic', [{ key: 'é', value: bytes, headers: { ce_type: 'x' } }]);
  await bus.publish('other', [message('k', 'other')]);
  await publish('0', '1');
  const probe = memberProbe(bus, { group: 'books', topics: ['topic'] });
  await probe.received(3);
  await probe.stop();
  expect(await Array.fromAsync(read())).toEqual(probe.records);
  expect(await Array.fromAsync(read({ from: 'end' }))).toEqual([]);
  expect(await Array.fromAsync(read({ signal: AbortSignal.abort() }))).toEqual([]);
});

it('ends with the existing records, even if others keep arriving', async () => {
  const { publish, read } = await givenTopic();
  await publish('0', '1', '2');
  const values: string[] = [];
  for await (const record of read()) {
    values.push(textOf(record));
    await publish('late');
  }
  expect(values).toEqual(['0', '1', '2']);
});

it.each([
  ['beginning', ['old', 'new']],
  ['end', ['new']],
] as const)('follows from the %s until it is stopped', async (from, expected) => {
  const { publish, read } = await givenTopic();
  await publish('old');
  const stopping = new AbortController();
  const values = new Set<string>();
  const reading = (async () => {
    for await (const record of read({ from, isFollowing: true, signal: stopping.signal }))
      values.add(textOf(record));
  })();
  // It begins at some moment after this: a record published before that is not new.
  const publishNew = async () => {
    await publish('new');
    return values.has('new');
  };
  await expect.poll(publishNew, waiting).toBe(true);
  stopping.abort();
  await reading;
  expect([...values]).toEqual(expected);
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
  const records = readEmbeddedTopic(trimming, 'topic', { from: 'beginning', signal });
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
  const timesFrom = async (timestamp: number) => {
    const { signal } = new AbortController();
    const records = await Array.fromAsync(
      readEmbeddedTopic(withTimes, 'topic', { from: { timestamp }, signal }),
    );
    return records.map((record) => record.timestamp);
  };
  expect(await timesFrom(8)).toEqual([10, 5, 20]);
  expect(await timesFrom(11)).toEqual([20]);
});
