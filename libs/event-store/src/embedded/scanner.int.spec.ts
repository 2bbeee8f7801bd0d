import { expect, it } from 'vitest';
import type { EventStore } from '../event-store.ts';
import { givenEvents } from '../testing/given-events.ts';
import { probe } from '../testing/subscription-probe.ts';
import { temporaryFile, threadedStore } from '../testing/temporary-store.ts';
import { openReader } from './reader.ts';

/** Together more than a search for a few should visit. */
async function givenPayments(store: EventStore, from: number): Promise<void> {
  for (let number = from; number < from + 6; number += 1)
    await store.append(`payment-${number}`, givenEvents(1_000), 'no-stream');
}

const namesOf = (events: readonly { stream: string; revision: number }[]) =>
  events.map(({ stream, revision }) => `${stream} ${revision}`);

async function givenFewAmongMany() {
  const file = await temporaryFile();
  const store = await threadedStore({ file });
  await store.append('endpoints-shop', givenEvents(2), 'no-stream');
  await givenPayments(store, 1);
  await store.append('endpoints', givenEvents(1), 'no-stream');
  await store.append('endpoints.shop', givenEvents(1), 'no-stream');
  await store.append('endpoints-', givenEvents(1), 'no-stream');
  await store.append('endpoints-~~', givenEvents(1), 'no-stream');
  await givenPayments(store, 7);
  await store.append('endpoints-shop', givenEvents(1), 1);
  await store.append('wallets-shop', givenEvents(1), 'no-stream');
  return { file, store };
}

// A start with a million payments took 14 s, most of them for passing over each payment to find the endpoints of teams.
it('finds the few that are wanted in one read, however many others there are', async () => {
  const { file } = await givenFewAmongMany();
  const reader = openReader(file);
  const scan = reader.scanner(['endpoints-', 'wallets-']);
  const { events, scannedTo, isEnd } = scan(0);
  expect(namesOf(events)).toEqual([
    ...['endpoints-shop 0', 'endpoints-shop 1', 'endpoints- 0', 'endpoints-~~ 0'],
    ...['endpoints-shop 2', 'wallets-shop 0'],
  ]);
  expect({ scannedTo, isEnd }).toEqual({ scannedTo: reader.head(), isEnd: true });
  expect(scan(scannedTo)).toMatchObject({ events: [], scannedTo, isEnd: true });
  // As far from the head as before, but for the first two.
  expect(namesOf(scan(2).events)).toEqual(namesOf(events).slice(2));
  expect(reader.scanner([])(0)).toMatchObject({ events: [], scannedTo, isEnd: true });
  reader.close();
});

it('delivers later ones to a subscription that began without any', async () => {
  const { store } = await givenFewAmongMany();
  const subscription = probe(store, { prefixes: ['endpoints-'] });
  await subscription.caughtUp();
  await store.append('payment-13', givenEvents(1), 'no-stream');
  await store.append('endpoints-games', givenEvents(1), 'no-stream');
  await expect.poll(() => subscription.events().length).toBe(6);
  await subscription.stop();
  expect(namesOf(subscription.events()).at(-1)).toBe('endpoints-games 0');
});

it.each([
  ['streams', 1_001, 1],
  ['events', 6, 1_000],
])('reads window by window if the wanted %s are many', async (_what, streamCount, eventCount) => {
  const { file, store } = await givenFewAmongMany();
  for (let number = 0; number < streamCount; number += 1)
    await store.append(`webhooks-${number}`, givenEvents(eventCount), 'no-stream');
  const reader = openReader(file);
  const scan = reader.scanner(['webhooks-']);
  let after = 0;
  const found: string[] = [];
  for (let isEnd = false; !isEnd;) {
    const window = scan(after);
    expect(window.scannedTo - after).toBeLessThanOrEqual(500);
    found.push(...namesOf(window.events));
    ({ isEnd, scannedTo: after } = window);
  }
  reader.close();
  expect(found).toHaveLength(streamCount * eventCount);
  expect(new Set(found).size).toBe(found.length);
});
