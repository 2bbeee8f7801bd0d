/** A topic was deleted, or a broker lost records that it had confirmed: an operator has them published again. */
import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { eventIdHeader, gatewayPaymentsTopic, gatewayPayoutsTopic } from '@tollgate/gateway-api';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { appendEvents, payoutRequested } from '@tollgate/views/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { requestRepublication } from './checkpoint.ts';
import { storedEvents, untilAllArePublished, recordPayment } from './testing/expect-published.ts';
import { createHolder, startPublisher } from './testing/holder.ts';
import { type MemoryBus, createMemoryBus } from './testing/memory-bus.ts';

let store: EventStore;
let memory: MemoryBus;

beforeEach(async () => {
  store = await temporaryStore();
  memory = createMemoryBus();
});

const record = (token: string) => recordPayment(store, token);
const start = () => startPublisher({ store, bus: memory.bus });
const request = () => requestRepublication({ store, clock: systemClock, ids: systemIds, log: silentLog });

async function publishSome(): Promise<void> {
  for (let number = 0; number < 6; number += 1) await record(`pay_${number}`);
  await appendEvents(store, 'payout-po_1', [payoutRequested()]);
  await untilAllArePublished(store, memory);
}

function loseAll(): void {
  for (const partition of [0, 1, 2]) memory.lose(gatewayPaymentsTopic, partition, partition);
}

/** Each event is there, and of each key its last copy comes after the last copy of the event before. */
async function expectAllInOrder(): Promise<void> {
  const records = [gatewayPaymentsTopic, gatewayPayoutsTopic].flatMap((topic) => memory.recordsOf(topic));
  const last = new Map(records.map(({ headers }, place) => [headers[eventIdHeader], place] as const));
  const places = new Map<string, number>();
  for (const { id, stream } of await storedEvents(store)) {
    const place = last.get(id);
    expect(place, `${stream} ${id}`).toBeGreaterThan(places.get(stream) ?? -1);
    places.set(stream, place ?? -1);
  }
}

it('lost records are not restored by themselves, and events are published as before', async () => {
  start();
  await publishSome();
  const { length } = memory.recordsOf(gatewayPaymentsTopic);
  loseAll();
  await record('pay_next');
  await eventually(() =>
    expect(memory.recordsOf(gatewayPaymentsTopic).filter(({ key }) => key === 'pay_next')).toHaveLength(4),
  );
  expect(memory.recordsOf(gatewayPaymentsTopic).length).toBeLessThan(length);
});

describe.each([
  ['while the publisher runs and nothing is recorded', true],
  ['before the publisher starts', false],
])('a request %s', (_name, isRunning) => {
  it('publishes all events of the lost topic, in order, with their ids, and none of another topic', async () => {
    const first = start();
    await publishSome();
    if (!isRunning) await first.stop();
    loseAll();
    expect(await request()).toBe(true);
    if (!isRunning) start();
    await eventually(expectAllInOrder);
    expect(memory.recordsOf(gatewayPayoutsTopic)).toHaveLength(1);
    await record('pay_next');
    await eventually(expectAllInOrder);
    expect(memory.recordsOf(gatewayPaymentsTopic).filter(({ key }) => key === 'pay_next')).toHaveLength(4);
  });
});

it('a topic that lost nothing has each event once', async () => {
  const first = start();
  await publishSome();
  await first.stop();
  const { length } = memory.recordsOf(gatewayPaymentsTopic);
  await request();
  start();
  await record('pay_next');
  await eventually(expectAllInOrder);
  expect(memory.recordsOf(gatewayPaymentsTopic)).toHaveLength(length + 4);
});

it('a partition that lost its last records has them again', async () => {
  const first = start();
  await publishSome();
  await first.stop();
  const { length } = memory.recordsOf(gatewayPaymentsTopic);
  memory.lose(gatewayPaymentsTopic, 0, 1);
  await request();
  start();
  await eventually(expectAllInOrder);
  expect(memory.recordsOf(gatewayPaymentsTopic)).toHaveLength(length);
});

it('does nothing if nothing was published', async () => {
  expect(await request()).toBe(false);
});

it.each([5, 10, 15, 20, 25, 30])(
  'a publisher that ends after %i calls meanwhile omits nothing',
  async (calls) => {
    const first = start();
    await publishSome();
    await first.stop();
    loseAll();
    await request();
    const holder = createHolder({ store, bus: memory.bus });
    holder.killAt(calls, calls % 2 === 0);
    startPublisher(holder);
    await Promise.race([holder.died, eventually(expectAllInOrder)]);
    holder.kill();
    start();
    await eventually(expectAllInOrder);
    expect(memory.recordsOf(gatewayPayoutsTopic)).toHaveLength(1);
  },
);
