import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { givenEvents, readAll } from '../testing/given-events.ts';
import { describeEventStore } from '../testing/event-store.contract.ts';
import { probe } from '../testing/subscription-probe.ts';
import { temporaryFile, threadedStore } from '../testing/temporary-store.ts';
import { createEmbeddedEventStore } from './embedded-event-store.ts';

describeEventStore('the embedded event store', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'event-store-'));
  const file = join(directory, 'events.db');
  return {
    store: await createEmbeddedEventStore({ file }),
    openAnother: () => createEmbeddedEventStore({ file }),
    dispose: () => rm(directory, { recursive: true }),
  };
});

describeEventStore("a store that writes by another one's thread", async () => {
  const directory = await mkdtemp(join(tmpdir(), 'event-store-'));
  const file = join(directory, 'events.db');
  const first = await createEmbeddedEventStore({ file });
  return {
    store: await createEmbeddedEventStore({ file, connection: first.connection() }),
    openAnother: () => createEmbeddedEventStore({ file, connection: first.connection() }),
    dispose: async () => {
      await first.close();
      await rm(directory, { recursive: true });
    },
  };
});

it('stamps events with the time of the given clock, in whole milliseconds', async () => {
  const store = await threadedStore({ clock: createFakeClock({ now: 1_700_000_000_000.75 }) });
  await store.append('payment-1', givenEvents(1), 'no-stream');
  expect(await readAll(store, 'payment-1')).toMatchObject([{ recordedAt: 1_700_000_000_000 }]);
});

// SQLite keeps no checksums: one byte of one event was damaged, and projections and publication of all payments stopped.
it('delivers an event that is not JSON as text, and continues', async () => {
  const file = await temporaryFile();
  const store = await threadedStore({ file });
  await store.append('payment-1', givenEvents(3), 'no-stream');
  const damaged = new DatabaseSync(file);
  damaged.exec(`UPDATE events SET data = substr(data, 1, length(data) - 1) || '|' WHERE revision = 1
    AND stream_id = (SELECT id FROM streams WHERE name = 'payment-1')`);
  damaged.close();
  const subscription = probe(store, { prefixes: ['payment-'] });
  await subscription.caughtUp();
  await subscription.stop();
  const expected = [expect.anything(), expect.stringMatching(/\|$/), expect.anything()];
  expect(subscription.events().map(({ data }) => data)).toEqual(expected);
  expect((await readAll(store, 'payment-1')).map(({ data }) => data)).toEqual(expected);
});

it('delivers to a subscription nothing that was trimmed before it', async () => {
  const store = await threadedStore();
  await store.append('payment-1', givenEvents(3), 'any', { keepLast: 1 });
  const subscription = probe(store, { prefixes: ['payment-'] });
  await subscription.caughtUp();
  await subscription.stop();
  expect(subscription.events().map(({ data }) => data)).toEqual([2]);
});
