/**
 * A program: serves the protocol of EventStoreDB from an embedded store, for end-to-end tests. Prints its connection string
 * as one line; ends on SIGTERM.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createEmbeddedEventStore } from '../../embedded/embedded-event-store.ts';
import { startTestServer } from './server.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, 'data-dir': { type: 'string' } },
});
const dataDir = values['data-dir'];
if (dataDir === undefined) throw new Error('--data-dir says where the events are kept.');
mkdirSync(dataDir, { recursive: true });
const store = await createEmbeddedEventStore({ file: join(dataDir, 'eventstoredb.db') });
const server = await startTestServer({ store, port: Number(values.port) });
process.stdout.write(`${server.url}\n`);
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => void server.close().then(() => store.close()));
