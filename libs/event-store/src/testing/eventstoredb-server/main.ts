/**
 * A program: serves the protocol of EventStoreDB from an embedded store, for end-to-end tests. Prints its connection string
 * as one line; ends on SIGTERM. As a server that starts, it is not ready for the first `--starts-for-ms`; it stalls all
 * writers for a second every `--stalls-every-ms`; by default neither.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createEmbeddedEventStore } from '../../embedded/embedded-event-store.ts';
import { startTestServer } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'data-dir': { type: 'string' },
    'starts-for-ms': { type: 'string', default: '0' },
    'stalls-every-ms': { type: 'string', default: '0' },
  },
});
const [startsForMs, stallsEveryMs] = [Number(values['starts-for-ms']), Number(values['stalls-every-ms'])];
const stallMs = 1_000;
const dataDir = values['data-dir'];
if (dataDir === undefined) throw new Error('--data-dir says where the events are kept.');
mkdirSync(dataDir, { recursive: true });
const store = await createEmbeddedEventStore({ file: join(dataDir, 'eventstoredb.db') });
const server = await startTestServer({ store, port: Number(values.port) });
if (startsForMs > 0) {
  server.faults.state = 'not-ready';
  setTimeout(() => (server.faults.state = 'leading'), startsForMs).unref();
}
const stall = () => {
  server.faults.writersStalled = delay(stallMs, undefined, { ref: false });
};
if (stallsEveryMs > 0) setInterval(stall, stallsEveryMs).unref();
process.stdout.write(`${server.url}\n`);
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => void server.close().then(() => store.close()));
