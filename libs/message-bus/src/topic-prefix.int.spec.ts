/** The embedded bus represents a cluster that two installations share. */
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createEmbeddedMessageBus } from './embedded/embedded-message-bus.ts';
import type { BusRecord, KafkaMessageBus, Message } from './message-bus.ts';
import { prefixTopics } from './topic-prefix.ts';

const message = (text: string): Message => ({ key: 'k', value: new TextEncoder().encode(text), headers: {} });
const textOf = ({ topic, value }: BusRecord) => `${topic} ${new TextDecoder().decode(value)}`;

it('two installations see their own records under the same names, and nothing of each other', async () => {
  const store = await temporaryStore();
  const deps = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const embedded = createEmbeddedMessageBus({ ...deps, holder: 'spec' });
  const cluster: KafkaMessageBus = {
    ...embedded,
    lastPerPartition: async (topic) => [
      { ...message('last'), topic, partition: 0, offset: '0', timestamp: 0 },
    ],
    partitionOf: async (topic) => topic.length,
    address: async () => 'cluster',
  };
  const stopping = new AbortController();
  onTestFinished(async () => {
    stopping.abort();
    await cluster.close();
  });
  const installations = ['staging.', 'other.'].map((prefix) => {
    const bus = prefixTopics(cluster, prefix);
    const seen: string[] = [];
    const options = { group: 'books', topics: ['orders'], signal: stopping.signal };
    void bus.subscribe(options, async (batch) => void seen.push(...batch.map(textOf)));
    return { bus, seen };
  });
  for (const [index, { bus }] of installations.entries()) {
    expect(bus.isConnected()).toBe(true);
    await bus.publish('orders', [message(`of ${index}`)]);
  }
  const addresses = await Promise.all(installations.map(({ bus }) => bus.address()));
  expect(addresses).toEqual(['cluster/staging.', 'cluster/other.']);
  for (const [index, { bus, seen }] of installations.entries()) {
    const own = [`orders of ${index}`];
    await eventually(() => expect(seen).toEqual(own));
    expect((await bus.lastPerPartition('orders')).map(textOf)).toEqual(['orders last']);
    expect(await bus.partitionOf('orders', 'k')).toBeGreaterThan('orders'.length);
  }
});
