import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { appendPayment, happening, requested } from '@tollgate/read-models/testing';
import { type Log, silentLog } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { expectPublishedOnce, untilAllArePublished } from './testing/expect-published.ts';
import { startPublisher } from './testing/holder.ts';
import { type MemoryBus, createMemoryBus } from './testing/memory-bus.ts';

const history = [requested(), happening.accepted, happening.pending, happening.approved];

async function publishAll(store: EventStore, memory: MemoryBus): Promise<void> {
  const publisher = startPublisher({ store, bus: memory.bus });
  await untilAllArePublished(store, memory);
  await publisher.stop();
}

/** A bus that the payments `pay_1` to `pay_9` of some store were published on. */
async function busOfAnotherStore(): Promise<MemoryBus> {
  const memory = createMemoryBus();
  const store = await temporaryStore();
  for (let number = 1; number <= 9; number += 1) await appendPayment(store, `pay_${number}`, history);
  await publishAll(store, memory);
  return memory;
}

// Their positions are lower than those of the records: they were taken for published, and never were.
it.each(['pay_new', 'pay_1'])('events of a store that was begun anew are not left out: %s', async (token) => {
  const memory = await busOfAnotherStore();
  const before = memory.count();
  const store = await temporaryStore();
  await appendPayment(store, token, history);
  const codes: unknown[] = [];
  const log: Log = { ...silentLog, error: ({ code }) => void codes.push(code) };
  const publisher = startPublisher({ store, bus: memory.bus, log });
  await eventually(() => expect(codes).toContain('topic_of_another_store'));
  expect(publisher.health()).toMatchObject({ isAdvancing: false, failure: 'topic_of_another_store' });
  await publisher.stop();
  expect(memory.count()).toBe(before);
  // On topics of their own they are all there.
  const own = createMemoryBus();
  await publishAll(store, own);
  await expectPublishedOnce(store, own);
});

it('what others have written to a topic says nothing about the store', async () => {
  const memory = createMemoryBus();
  const store = await temporaryStore();
  const foreign = { key: 'someone', value: Buffer.from('{}'), headers: {} };
  await memory.bus.publish('gateway.payments.v1', [foreign]);
  await appendPayment(store, 'pay_1', history);
  const publisher = startPublisher({ store, bus: memory.bus });
  await eventually(() => expect(memory.count()).toBe(1 + history.length));
  expect(publisher.health().failure).toBeUndefined();
});
