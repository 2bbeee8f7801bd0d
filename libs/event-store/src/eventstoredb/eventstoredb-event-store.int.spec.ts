import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@tollgate/service-kit';
import { createEmbeddedEventStore } from '../embedded/embedded-event-store.ts';
import { vi } from 'vitest';
import { describeEventStore, startTestServer } from '../testing/index.ts';
import { parseConnectionString } from './connection-string.ts';
import { createEventStoreDbStore } from './eventstoredb-event-store.ts';

// Both sides of the protocol run on the machine's one busy thread.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describeEventStore('the store on EventStoreDB', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'eventstoredb-'));
  const kept = await createEmbeddedEventStore({ file: join(directory, 'events.db') });
  const server = await startTestServer({ store: kept });
  const { hosts, discovers } = parseConnectionString(server.url, 'EVENTSTORE_URL');
  const open = () =>
    createEventStoreDbStore({ connection: { hosts, discovers, tls: false }, clock: systemClock });
  return {
    store: await open(),
    openAnother: open,
    dispose: async () => {
      await server.close();
      await kept.close();
      await rm(directory, { recursive: true });
    },
  };
});
