import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { beginning, type EventStore } from '../src/event-store.ts';
import { createEmbeddedEventStore } from '../src/embedded/embedded-event-store.ts';

/**
 * Durable appends per second for 1, 16, 64 and 256 writers, each of which waits for its answer before it appends again:
 * `npx node libs/event-store/bench/append.ts --seconds 3 --subscribers 8`
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '3' }, subscribers: { type: 'string', default: '0' } },
});
const durationMs = Number(values.seconds) * 1_000;
const data = { amount: 1_050, currency: 'EUR', orderNumber: 'order-4711', text: 'x'.repeat(250) };

async function appendInTurn(store: EventStore, name: string, until: number): Promise<number> {
  let count = 0;
  for (; performance.now() < until; count += 1) {
    // Streams of eight events, as a payment has them.
    const revision = count % 8;
    const event = { id: randomUUID(), type: 'PaymentRequested', data, metadata: { correlationId: 'c' } };
    const answer = await store.append(
      `${name}-${count >> 3}`,
      [event],
      revision === 0 ? 'no-stream' : revision - 1,
    );
    if (answer.kind !== 'appended') throw new Error('a stream with one writer met a conflict');
  }
  return count;
}

let delivered = 0;

async function follow(store: EventStore, prefix: string, signal: AbortSignal): Promise<void> {
  for await (const each of store.subscribe({ from: beginning, prefixes: [prefix], signal }))
    delivered += each.kind === 'event' ? 1 : 0;
}

const directory = await mkdtemp(join(tmpdir(), 'append-bench-'));
const store = await createEmbeddedEventStore({ file: join(directory, 'events.db') });
const ending = new AbortController();
// One of them receives every event; the others read each and receive none.
const prefixes = Array.from({ length: Number(values.subscribers) }, (_, index) =>
  index === 0 ? 'w' : 'none-',
);
const following = prefixes.map((prefix) => follow(store, prefix, ending.signal));
for (const writers of [1, 16, 64, 256]) {
  const until = performance.now() + durationMs;
  const names = Array.from({ length: writers }, (_, index) => `w${writers}.${index}`);
  const counts = await Promise.all(names.map((name) => appendInTurn(store, name, until)));
  const perSecond = (1_000 * counts.reduce((sum, count) => sum + count, 0)) / durationMs;
  console.log(`${writers} writers: ${Math.round(perSecond)} appends/s`);
}
ending.abort();
await Promise.all(following);
console.log(`${delivered} events delivered`);
await store.close();
await rm(directory, { recursive: true });
