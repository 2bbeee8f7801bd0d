import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '@tollgate/service-kit';
import { beginning } from '../src/event-store.ts';
import { createEmbeddedEventStore } from '../src/embedded/embedded-event-store.ts';
import { createEventStoreDbStore } from '../src/eventstoredb/eventstoredb-event-store.ts';
import { parseConnectionString } from '../src/eventstoredb/connection-string.ts';
import { openLink } from '../src/eventstoredb/connection.ts';
import { toEventData } from '../src/eventstoredb/recorded-event.ts';
import { startTestServer } from '../src/testing/eventstoredb-server/server.ts';

/**
 * Appends and deliveries per second through the adapter, and through the bare client for comparison:
 * `npx node libs/event-store/bench/eventstoredb.ts --events 5000 --writers 32`, on the server of EVENTSTORE_URL, else on the
 * test server
 * in this process, where both sides of the protocol share one thread.
 */
const { values } = parseArgs({
  options: { events: { type: 'string', default: '5000' }, writers: { type: 'string', default: '32' } },
});
const eventCount = Number(values.events);
const writerCount = Number(values.writers);
const data = { amount: 1_050, currency: 'EUR', orderNumber: 'order-4711', text: 'x'.repeat(250) };
const newEvent = () => ({
  id: randomUUID(),
  type: 'PaymentRequested',
  data,
  metadata: { correlationId: 'c' },
});

const directory = await mkdtemp(join(tmpdir(), 'eventstoredb-bench-'));
const kept = await createEmbeddedEventStore({ file: join(directory, 'events.db') });
const server = await startTestServer({ store: kept });
const named = process.env['EVENTSTORE_URL'];
const { hosts, discovers } = parseConnectionString(named ?? server.url, 'EVENTSTORE_URL');
const connection = { hosts, discovers, tls: false } as const;
const store = await createEventStoreDbStore({ connection, clock: systemClock });
const link = openLink(connection);

async function measured(name: string, work: () => Promise<number>): Promise<void> {
  const startedAt = performance.now();
  const count = await work();
  const perSecond = (1_000 * count) / (performance.now() - startedAt);
  console.log(`${name}: ${Math.round(perSecond)}/s`);
}

/** Each writer has its own streams, of one event each. */
async function appendAll(name: string, append: (stream: string) => Promise<unknown>): Promise<void> {
  let next = 0;
  const write = async () => {
    for (let index = (next += 1); index <= eventCount; index = next += 1) await append(`${name}-${index}`);
  };
  await measured(`${name}: appends`, async () => {
    await Promise.all(Array.from({ length: writerCount }, write));
    return eventCount;
  });
}

async function round(): Promise<void> {
  const run = randomUUID().slice(0, 8);
  await appendAll(`adapter${run}`, (stream) => store.append(stream, [newEvent()], 'no-stream'));
  await appendAll(`client${run}`, (stream) => {
    const event = newEvent();
    const text = { data: JSON.stringify(event.data), metadata: JSON.stringify(event.metadata) };
    return link.client.appendToStream(stream, toEventData({ ...event, ...text }), {
      expectedRevision: 'no_stream',
      credentials: link.appendCredentials,
    });
  });
  await measured(`adapter${run}: deliveries`, async () => {
    let count = 0;
    const { signal } = new AbortController();
    for await (const item of store.subscribe({ from: beginning, prefixes: [`adapter${run}-`], signal })) {
      if (item.kind === 'event') count += 1;
      if (count === eventCount) break;
    }
    return count;
  });
  await measured(`client${run}: deliveries`, async () => {
    let count = 0;
    const filter = { filterOn: 'streamName' as const, prefixes: [`client${run}-`], checkpointInterval: 1 };
    const subscription = link.client.subscribeToAll({ fromPosition: 'start', filter });
    for await (const { event } of subscription) {
      if (event !== undefined) count += 1;
      if (count === eventCount) break;
    }
    await subscription.unsubscribe();
    return count;
  });
}

// The first one warms up.
for (const name of ['first round', 'second round']) {
  console.log(name);
  await round();
}
await Promise.all([store.close(), link.close()]);
await server.close();
await kept.close();
await rm(directory, { recursive: true });
