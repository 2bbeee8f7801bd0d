import { failedStreamsMax, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { gatewayPaymentsTopic } from '@tollgate/gateway-api';
import type { Message } from '@tollgate/message-bus';
import { appendPayment, happening, requested } from '@tollgate/views/testing';
import { eventually } from '@tollgate/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectPublishedOnce, untilAllArePublished, recordPayment } from './testing/expect-published.ts';
import { createHolder, startPublisher } from './testing/holder.ts';
import { type MemoryBus, createMemoryBus } from './testing/memory-bus.ts';

let store: EventStore;
let memory: MemoryBus;

beforeEach(async () => {
  store = await temporaryStore();
  // One partition: records after those of a failed stream follow them in its partition as well.
  memory = createMemoryBus(1);
});

const record = (token: string, from?: number, to?: number) => recordPayment(store, token, from, to);

/** The store as seen by a version that does not know the events of `isUnknown` yet. */
function seenByOldVersion(isUnknown: (event: RecordedEvent) => boolean): EventStore {
  async function* aged<Item extends { kind: string }>(items: AsyncIterable<Item>): AsyncIterable<Item> {
    for await (const item of items) {
      const isEvent = item.kind === 'event' && isUnknown(item as unknown as RecordedEvent);
      yield isEvent ? { ...item, type: 'OfLaterVersion' } : item;
    }
  }
  return {
    ...store,
    read: (...given) => aged(store.read(...given)),
    subscribe: (...given) => aged(store.subscribe(...given)),
  };
}
const isBroken = ({ stream, revision }: RecordedEvent) => stream === 'payment-broken' && revision === 2;

const startOld = () => startPublisher({ store: seenByOldVersion(isBroken), bus: memory.bus });
const start = () => startPublisher({ store, bus: memory.bus });
const keysOf = () => memory.recordsOf(gatewayPaymentsTopic).map(({ key }) => key);

/** The old version has published all it can: `broken` up to its revision 1, and the later `other`. */
async function givenFailed(): Promise<void> {
  await record('broken', 0, 3);
  const old = startOld();
  await eventually(() => expect(old.health().failedStreams).toHaveLength(1));
  await record('other');
  await record('broken', 3);
  await record('another');
  await eventually(() => expect(memory.count()).toBe(12));
  expect(old.health()).toMatchObject({
    isAdvancing: true,
    failedStreams: [{ stream: 'payment-broken', revision: 2, code: 'event_undecodable' }],
  });
  await old.stop();
}

it('has failed on its own topic only: another topic gets all that can be published', async () => {
  await givenFailed();
  memory = createMemoryBus(1);
  startOld();
  await eventually(() => expect(memory.count()).toBe(12));
  expect(keysOf().filter((key) => key === 'broken')).toHaveLength(2);
});

it('is tried again at the next start, and then misses nothing and has nothing twice', async () => {
  await givenFailed();
  // Both after the position of its partition, and still to come in turn.
  await appendPayment(store, 'broken', [happening.refunding]);
  const publisher = start();
  await record('last');
  await expectPublishedOnce(store, memory);
  expect(publisher.health().failedStreams).toEqual([]);
  await publisher.stop();
  start();
  await record('very-last');
  await expectPublishedOnce(store, memory);
});

it('stays on the list over starts of a version that cannot read it, and loses nothing', async () => {
  await givenFailed();
  for (let each = 0; each < 2; each += 1) {
    const old = startOld();
    await eventually(() => expect(old.health()).toMatchObject({ isAdvancing: true }));
    expect(old.health().failedStreams).toHaveLength(1);
    await old.stop();
  }
  start();
  await expectPublishedOnce(store, memory);
});

it('that can be read further, but not to its end, is published as far as it can be read', async () => {
  await givenFailed();
  const isBrokenLater = ({ stream, revision }: RecordedEvent) =>
    stream === 'payment-broken' && revision === 3;
  const better = startPublisher({ store: seenByOldVersion(isBrokenLater), bus: memory.bus });
  await eventually(() => expect(memory.count()).toBe(13));
  await eventually(() => expect(better.health().failedStreams).toMatchObject([{ revision: 3 }]));
  await better.stop();
  start();
  await expectPublishedOnce(store, memory);
});

it('is recorded before anything later is published, so that a crash at that point loses no record of it', async () => {
  await record('broken', 0, 3);
  await record('other');
  const holder = createHolder({ store: seenByOldVersion(isBroken), bus: memory.bus });
  const publish = async (topic: string, messages: readonly Message[]) => {
    await memory.bus.publish(topic, messages);
    if (messages.some(({ key }) => key === 'other')) holder.kill();
  };
  startPublisher({ store: holder.store, bus: { ...holder.bus, publish } });
  await eventually(() => expect(keysOf()).toContain('other'));
  start();
  await expectPublishedOnce(store, memory);
});

it('records before it are published before it is recorded', async () => {
  await record('earlier');
  await record('broken', 0, 3);
  const holder = createHolder({ store: seenByOldVersion(isBroken), bus: memory.bus });
  const append: EventStore['append'] = async (stream, events, expected) => {
    const answer = await holder.store.append(stream, events, expected);
    const { failedStreams = [] } = events[0]?.data as { failedStreams?: unknown[] };
    if (failedStreams.length > 0) holder.kill();
    return answer;
  };
  startPublisher({ store: { ...holder.store, append }, bus: holder.bus });
  await eventually(() => expect(holder.isDead()).toBe(true));
  start();
  await expectPublishedOnce(store, memory);
});

describe('a crash while it is recovered', () => {
  it.each(Array.from({ length: 24 }, (_, calls) => [calls, calls % 2 === 0] as const))(
    'at call %i (made: %s) leaves no gap and no duplicate',
    async (calls, isMade) => {
      await givenFailed();
      const holder = createHolder({ store, bus: memory.bus });
      holder.killAt(calls, isMade);
      const crashed = startPublisher(holder);
      await record('last');
      await eventually(() => expect(holder.isDead() || crashed.health().isAdvancing).toBe(true));
      holder.kill();
      start();
      await expectPublishedOnce(store, memory);
    },
  );
});

it('a send that fails partway during its recovery leaves no gap and no duplicate', async () => {
  await givenFailed();
  memory.failAfter(1);
  start();
  await expectPublishedOnce(store, memory);
});

it('a version that cannot read published events does not publish them again later', async () => {
  await record('broken');
  const first = start();
  await untilAllArePublished(store, memory);
  await first.stop();
  const worse = startOld();
  await appendPayment(store, 'broken', [happening.refunding]);
  await eventually(() => expect(worse.health().failedStreams).toMatchObject([{ revision: 4 }]));
  await worse.stop();
  start();
  await expectPublishedOnce(store, memory);
});

it('if too many streams fail, it stops rather than skip them all', async () => {
  const publisher = startPublisher({
    store: seenByOldVersion(({ stream }) => stream.startsWith('payment-')),
    bus: memory.bus,
  });
  for (let number = 0; number <= failedStreamsMax; number += 1) await record(`broken-${number}`, 0, 1);
  await eventually(() => expect(publisher.health()).toMatchObject({ isAdvancing: false }));
  await eventually(() => expect(publisher.health().failedStreams).toHaveLength(failedStreamsMax));
  await publisher.stop();
  start();
  await expectPublishedOnce(store, memory);
});

it('a record that no bus accepts fails its own stream only', async () => {
  const evidence = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, number) => [`name-${number}`.padEnd(256, 'x'), 'value']),
  );
  await appendPayment(store, 'large', [
    requested(),
    happening.accepted,
    { type: 'ReviewOpened', data: { code: 'attempt_not_found', evidence } },
  ]);
  const publisher = start();
  await record('other');
  await eventually(() => expect(memory.count()).toBe(7));
  expect(publisher.health().failedStreams).toMatchObject([{ revision: 2, code: 'record_too_large' }]);
});
