import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { gatewayPaymentsTopic, positionHeader } from '@tollgate/gateway-api';
import { type Log, silentLog } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { checkpointStream } from './checkpoint.ts';
import { storedEvents, untilAllArePublished, history, recordPayment } from './testing/expect-published.ts';
import { hastyClock, startPublisher } from './testing/holder.ts';
import { type MemoryBus, createMemoryBus } from './testing/memory-bus.ts';

async function storeWith(...tokens: string[]): Promise<EventStore> {
  const store = await temporaryStore();
  for (const token of tokens) await recordPayment(store, token);
  return store;
}

/** Wait for the checkpoint: by this clock it is due soon after each send. */
async function publishAll(store: EventStore, memory: MemoryBus): Promise<void> {
  let now = 0;
  const clock = { ...hastyClock, monotonic: () => (now += 900) };
  const publisher = startPublisher({ store, bus: memory.bus, clock });
  await untilAllArePublished(store, memory);
  const last = (await storedEvents(store)).at(-1)?.position ?? '';
  await eventually(async () => expect((await checkpointed(store)) >= last).toBe(true));
  await publisher.stop();
}

async function checkpointed(store: EventStore): Promise<string> {
  for await (const { data } of store.read(checkpointStream, { direction: 'backwards', limit: 1 }))
    return (data as { position: string }).position;
  return '';
}

async function expectRefused(store: EventStore, memory: MemoryBus): Promise<void> {
  const before = memory.count();
  const codes: unknown[] = [];
  const log: Log = { ...silentLog, error: ({ code }) => void codes.push(code) };
  const publisher = startPublisher({ store, bus: memory.bus, log });
  await eventually(() => expect(codes).toContain('topic_of_another_store'));
  expect(publisher.health()).toMatchObject({ isAdvancing: false, failure: 'topic_of_another_store' });
  await publisher.stop();
  expect(memory.count()).toBe(before);
}

// The positions of such a store are lower than those of the records: its events were considered published, and never were.
describe('a topic that has outlived its store is not written to', () => {
  it('if the store does not have the stream of the last record', async () => {
    const memory = createMemoryBus();
    await publishAll(await storeWith('pay_1', 'pay_2', 'pay_3'), memory);
    await expectRefused(await storeWith('pay_new'), memory);
  });

  it('if the store has other events of the same names', async () => {
    const memory = createMemoryBus();
    await publishAll(await storeWith('pay_1'), memory);
    await expectRefused(await storeWith('pay_1', 'pay_new'), memory);
  });

  it('if the last record is of an event that the store has, and its partition is ahead of the store', async () => {
    const memory = createMemoryBus();
    const store = await storeWith('pay_1');
    await publishAll(store, memory);
    const last = memory.recordsOf(gatewayPaymentsTopic).at(-1);
    expect(last).toBeDefined();
    if (last === undefined) return;
    // As for a failed stream that is recovered late: the event is old, the position is not.
    const headers = { ...last.headers, [positionHeader]: '9'.repeat(16) };
    await memory.bus.publish(gatewayPaymentsTopic, [{ ...last, headers }]);
    await expectRefused(store, memory);
  });
});

it('foreign records on a topic prove nothing about the store', async () => {
  const memory = createMemoryBus();
  const store = await storeWith('pay_1');
  const foreign = { key: 'someone', value: Buffer.from('{}'), headers: {} };
  await memory.bus.publish(gatewayPaymentsTopic, [foreign]);
  const publisher = startPublisher({ store, bus: memory.bus });
  await eventually(() => expect(memory.recordsOf(gatewayPaymentsTopic)).toHaveLength(1 + history.length));
  expect(publisher.health().failure).toBeUndefined();
});
