import type { EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MessageBus } from '../message-bus.ts';
import { memberProbe, message } from '../testing/member-probe.ts';
import { createEmbeddedMessageBus } from './embedded-message-bus.ts';
import { partitionStream, topicStream } from './partition-streams.ts';

const topic = 'gateway.payments.v1';

function openBus(store: EventStore, partitions = 1): MessageBus {
  const options = { store, clock: systemClock, ids: systemIds, holder: 'spec', partitions };
  const bus = createEmbeddedMessageBus(options);
  onTestFinished(() => bus.close());
  return bus;
}

const caused = (text: string) => ({ ...message('k', text), cause: `event ${text}` });
const numbered = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => caused(String(first + index)));

async function valuesOf(store: EventStore, count: number): Promise<string[]> {
  const member = memberProbe(openBus(store), { group: systemIds.uuid(), topics: [topic] });
  await member.received(count);
  await member.stop();
  return member.values();
}

// A publisher that took over, or tried again, wrote a second time what had come to the topic since it had read the end.
describe('messages with a cause that came to a partition after its end was read', () => {
  it('are not written again by another publisher', async () => {
    const file = await temporaryFile();
    const [first, second] = [await temporaryStore({ file }), await temporaryStore({ file })];
    const [old, next] = [openBus(first), openBus(second)];
    await old.publish(topic, [caused('0')]);
    await next.lastPerPartition(topic);
    await old.publish(topic, [caused('1'), caused('2')]);
    await next.publish(topic, [caused('1'), caused('2'), caused('3')]);
    await old.publish(topic, [caused('3'), caused('4')]);
    expect(await valuesOf(first, 5)).toEqual(['0', '1', '2', '3', '4']);
  });

  it('are not written again where the topic was not there yet', async () => {
    const store = await temporaryStore();
    const next = openBus(store);
    expect(await next.lastPerPartition(topic)).toEqual([]);
    await openBus(store).publish(topic, [caused('0')]);
    await next.publish(topic, [caused('0'), caused('1')]);
    expect(await valuesOf(store, 2)).toEqual(['0', '1']);
  });

  it('are not written again where they are more than one append takes', async () => {
    const store = await temporaryStore();
    const next = openBus(store);
    await next.lastPerPartition(topic);
    await openBus(store).publish(topic, numbered(2_500));
    await next.publish(topic, numbered(2_600));
    expect(await valuesOf(store, 2_600)).toEqual(numbered(2_600).map((_, index) => String(index)));
  });

  it('are not written again by the same publisher, nor by the next one, that have read no end', async () => {
    const store = await temporaryStore();
    const bus = openBus(store);
    await bus.publish(topic, [caused('0'), caused('1')]);
    await bus.publish(topic, [caused('0')]);
    await openBus(store).publish(topic, [caused('1'), caused('2')]);
    expect(await valuesOf(store, 3)).toEqual(['0', '1', '2']);
  });

  it('of another topic are other messages', async () => {
    const store = await temporaryStore();
    const bus = openBus(store);
    await bus.publish('another', [caused('0')]);
    await bus.publish(topic, [caused('0')]);
    expect(await valuesOf(store, 1)).toEqual(['0']);
  });
});

it('messages without a cause are written each time', async () => {
  const store = await temporaryStore();
  const bus = openBus(store);
  await bus.publish(topic, [message('k', 'same')]);
  await bus.publish(topic, [message('k', 'same'), caused('1')]);
  expect(await valuesOf(store, 3)).toEqual(['same', 'same', '1']);
});

it('of many publishers at once none loses or doubles a message with a cause, and each keeps its order', async () => {
  const file = await temporaryFile();
  const stores = [await temporaryStore({ file }), await temporaryStore({ file })];
  const publishing = stores.flatMap((store, publisher) => {
    const bus = openBus(store);
    return Array.from({ length: 40 }, (_, index) =>
      bus.publish(topic, [caused(`${publisher}-${index}`), caused(`both-${index}`)]),
    );
  });
  await Promise.all(publishing);
  const values = await valuesOf(stores[0]!, 120);
  expect(new Set(values).size).toBe(values.length);
  for (const publisher of ['0', '1']) {
    const own = values.filter((value) => value.startsWith(`${publisher}-`));
    expect(own).toEqual(Array.from({ length: 40 }, (_, index) => `${publisher}-${index}`));
  }
});

it('a store that reports others before it shows them makes a publish fail as retryable', async () => {
  const store = await temporaryStore();
  const hiding: EventStore = { ...store, append: async () => ({ kind: 'conflict', actual: 0 }) };
  const created = openBus(hiding).publish(topic, [caused('0')]);
  await expect(created).rejects.toMatchObject({ code: 'bus_unavailable', retryable: true });
  await store.append(
    topicStream(topic),
    [{ id: systemIds.uuid(), type: 'TopicCreated', data: { partitions: 1 }, metadata: {} }],
    'no-stream',
  );
  const contended = openBus(hiding).publish(topic, [caused('0')]);
  await expect(contended).rejects.toMatchObject({ code: 'partition_contended', retryable: true });
  expect(await Array.fromAsync(store.read(partitionStream(topic, 0)))).toEqual([]);
});

it('a group that others join all the time is joined by the next try', async () => {
  const store = await temporaryStore();
  let conflicts = 0;
  const contended: EventStore = {
    ...store,
    append: async (...given) => {
      if (given[0] !== 'busgroup-spec' || conflicts >= 25) return store.append(...given);
      conflicts += 1;
      return { kind: 'conflict', actual: conflicts };
    },
  };
  await openBus(store).publish(topic, [caused('0')]);
  const member = memberProbe(openBus(contended), { group: 'spec', topics: [topic] });
  await member.received(1);
  await member.stop();
  expect(conflicts).toBe(25);
});
