import { type EventStore, StoreUnavailable } from '@tollgate/event-store';
import { temporaryStore, appended } from '@tollgate/event-store/testing';
import { gatewayPaymentsTopic } from '@tollgate/gateway-api';
import {
  appendEvents,
  disputeHappening,
  disputeOpened,
  payoutHappening,
  payoutRequested,
} from '@tollgate/views/testing';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { createFakeClock, eventually } from '@tollgate/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkpointStream } from './checkpoint.ts';
import { publishedTopics } from './topic-records.ts';
import { expectPublishedOnce, untilAllArePublished, recordPayment } from './testing/expect-published.ts';
import { hastyClock, startPublisher } from './testing/holder.ts';
import { type MemoryBus, createMemoryBus } from './testing/memory-bus.ts';

let store: EventStore;
let memory: MemoryBus;

beforeEach(async () => {
  store = await temporaryStore();
  memory = createMemoryBus();
});

const transferred = {
  type: 'WalletTransferred',
  data: {
    environment: 'sandbox',
    account: 'main',
    currency: 'EUR',
    amount: 1,
    from: 'team-a',
    to: 'team-b',
    reason: 'r',
  },
};
const start = () => startPublisher({ store, bus: memory.bus });
const record = (token: string, from?: number, to?: number) => recordPayment(store, token, from, to);
const tokens = Array.from({ length: 12 }, (_, number) => `pay_${number}`);
const recordAll = () => Promise.all(tokens.map((token) => record(token)));

async function whilePublishing(work: () => Promise<void>): Promise<void> {
  const publisher = start();
  await work();
  await publisher.stop();
}

it('publishes every event of payments, payouts and disputes and every entry of the journal once, in the order of its stream', async () => {
  start();
  const payouts = tokens.map((token) =>
    appendEvents(store, `payout-po_${token}`, [payoutRequested(), payoutHappening.accepted]),
  );
  const disputes = tokens.map((token) =>
    appendEvents(store, `dispute-dsp_${token}`, [disputeOpened(), disputeHappening.matched]),
  );
  const transfers = tokens.map((token) => appendEvents(store, `transfer-tr_${token}`, [transferred]));
  await Promise.all([recordAll(), ...payouts, ...disputes, ...transfers]);
  await expectPublishedOnce(store, memory);
  // Each payment and payout has one entry, and each transfer has one in either wallet.
  expect(publishedTopics.map((topic) => memory.recordsOf(topic).length)).toEqual([48, 24, 24, 48]);
});

it('waits for the other topics if one fails', async () => {
  await record('pay_1');
  await appendEvents(store, 'payout-po_1', [payoutRequested()]);
  let isSlowWritten = false;
  let inquiredBefore = 0;
  const bus = {
    ...memory.bus,
    publish: async (topic: string, messages: Parameters<typeof memory.bus.publish>[1]) => {
      if (topic === gatewayPaymentsTopic && !isSlowWritten) {
        memory.failAfter(0);
        return memory.bus.publish(topic, messages);
      }
      await systemClock.sleep(30);
      await memory.bus.publish(topic, messages);
      isSlowWritten = true;
    },
    lastPerPartition: async (topic: string) => {
      inquiredBefore += isSlowWritten || memory.count() > 0 ? 0 : 1;
      return memory.bus.lastPerPartition(topic);
    },
  };
  startPublisher({ store, bus });
  await expectPublishedOnce(store, memory);
  expect(inquiredBefore).toBe(publishedTopics.length);
});

it('begins at the first event on another cluster or under another prefix, and repeats nothing on the former', async () => {
  await recordAll();
  const [former, other] = [memory, createMemoryBus()];
  await whilePublishing(() => expectPublishedOnce(store, memory));
  memory = other;
  await whilePublishing(() => expectPublishedOnce(store, memory));
  memory = former;
  await record('pay_last');
  await whilePublishing(() => expectPublishedOnce(store, memory));
});

it('does not mistake an unavailable store for a damaged stream', async () => {
  const first = start();
  await record('pay_1', 0, 2);
  await untilAllArePublished(store, memory);
  await first.stop();
  await record('pay_1', 2);
  const { read } = store;
  let failures = 1;
  store.read = (stream, options) => {
    if (stream.startsWith('payment-') && failures-- > 0) throw new StoreUnavailable('store_busy', 'busy');
    return read(stream, options);
  };
  const second = start();
  await expectPublishedOnce(store, memory);
  expect(second.health().failedStreams).toEqual([]);
});

it('writes no checkpoint if it had nothing to publish, however much others write', async () => {
  let now = 0;
  const clock = { ...hastyClock, monotonic: () => now };
  const publisher = startPublisher({ store, bus: memory.bus, clock });
  await record('pay_1');
  await untilAllArePublished(store, memory);
  await eventually(() => expect(publisher.health().lagMs).toBe(0));
  const lastOne = { direction: 'backwards', limit: 1 } as const;
  const revisionOf = async () => (await Array.fromAsync(store.read(checkpointStream, lastOne)))[0]?.revision;
  const before = await revisionOf();
  for (let each = 0; each < 3; each += 1) {
    // Long enough for another checkpoint to be due.
    now += 2_000;
    const other = { id: systemIds.uuid(), type: 'Other', data: {}, metadata: {} };
    const { position } = appended(await store.append('other', [other], 'any'));
    await eventually(() => expect(publisher.health().position >= position).toBe(true));
  }
  expect(await revisionOf()).toBe(before);
});

describe('its health', () => {
  it('reports how long events wait while the bus is down, and that none waits once it is up', async () => {
    const clock = createFakeClock({ now: Date.now() + 60_000 });
    memory.setUp(false);
    const publisher = startPublisher({ store, bus: memory.bus, clock });
    await record('pay_1');
    await eventually(() => expect(clock.sleeperCount()).toBe(1));
    await clock.advance(100);
    expect(publisher.health()).toMatchObject({ isAdvancing: false, lagMs: 100 });
    memory.setUp(true);
    await eventually(async () => {
      await clock.advance(1_000);
      expect(publisher.health()).toMatchObject({ isAdvancing: true, lagMs: 0 });
    });
    await expectPublishedOnce(store, memory);
  });

  it('reports the age of the oldest event that could not be published', async () => {
    const clock = createFakeClock({ now: Date.now() + 60_000 });
    await record('pay_1');
    memory.failAfter(0);
    const publisher = startPublisher({ store, bus: memory.bus, clock });
    await eventually(() => expect(clock.sleeperCount()).toBe(1));
    const { lagMs, isAdvancing } = publisher.health();
    expect(isAdvancing).toBe(false);
    expect(lagMs).toBeGreaterThan(50_000);
    expect(lagMs).toBeLessThan(70_000);
  });
});
