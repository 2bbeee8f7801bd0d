/**
 * The arrangement in which the end-to-end specs start the system, defined only here. `TOLLGATE_ARRANGEMENT` selects it;
 * `npm run test:arrangements` runs the specs in all of them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemIds } from '@tollgate/service-kit';
import type { TestContext } from 'vitest';
import { type LocalEventStoreDb, startLocalEventStoreDb } from './local-eventstoredb.ts';

interface Arrangement {
  /** Each service as its own process, or all in one. */
  hasProcesses: boolean;
  /** The protocol of EventStoreDB, or the embedded file. */
  isOnEventStoreDb: boolean;
  /** Kafka, or the bus on the event store. */
  isOnKafka: boolean;
}

const embedded = { isOnEventStoreDb: false, isOnKafka: false };
const arrangements: Readonly<Record<string, Arrangement>> = {
  'one-process': { hasProcesses: false, ...embedded },
  services: { hasProcesses: true, ...embedded },
  'one-process-eventstoredb': { hasProcesses: false, isOnEventStoreDb: true, isOnKafka: false },
  'services-eventstoredb-kafka': { hasProcesses: true, isOnEventStoreDb: true, isOnKafka: true },
};

const name = process.env['TOLLGATE_ARRANGEMENT'] ?? 'one-process';
const arrangement = arrangements[name];
if (arrangement === undefined)
  throw new Error(
    `TOLLGATE_ARRANGEMENT is ${name}: it must be one of ${Object.keys(arrangements).join(', ')}.`,
  );
const { hasProcesses, isOnEventStoreDb, isOnKafka } = arrangement;

/** True if the gateway signs changes of teams itself: separate processes have no signing key. */
export const isSigning = !hasProcesses;

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Starts each service as a process of its own. */
export const launcher = fileOf('./launcher/main.ts');

/** The command that starts the system. */
export const program = hasProcesses ? launcher : fileOf('../src/main.ts');

/** Path of the events in the data directory. */
export const eventFiles: string[] = isOnEventStoreDb ? [] : ['events.db'];

/** Path of the gateway's sandbox key in the data directory, also with a separate sandbox. */
export const sandboxKeyFiles: string[] = [
  ...(hasProcesses ? ['payment-service-key'] : []),
  'quickstart.json',
];

/**
 * For a spec, or a hook, of behavior in one process only: elsewhere it is skipped, with the reason.
 *
 * @param reason why it does not apply to other arrangements
 */
export function onlyInOneProcess({ skip }: Pick<TestContext, 'skip'>, reason: string): void {
  if (name !== 'one-process') skip(`in one process only: ${reason}`);
}

/** One per data directory, so that a restarted system finds its data. */
const stores = new Map<string, Promise<Record<string, string>>>();
const servers = new Set<{ server: LocalEventStoreDb; folder: string }>();

/** The variables for the event store and bus of a system, and of the commands next to it. */
export function storesOf(dataDir: string): Promise<Record<string, string>> {
  const known = stores.get(dataDir) ?? openStores();
  stores.set(dataDir, known);
  return known;
}

async function openStores(): Promise<Record<string, string>> {
  return { ...(isOnEventStoreDb ? await startEventStoreDb() : {}), ...(isOnKafka ? prefixOnKafka() : {}) };
}

/** A separate server per system: otherwise they would share streams. */
async function startEventStoreDb(): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-e2e-eventstoredb-'));
  const server = await startLocalEventStoreDb(folder);
  servers.add({ server, folder });
  return { EVENTSTORE_URL: server.url };
}

function prefixOnKafka(): Record<string, string> {
  const brokers = process.env['KAFKA_BROKERS'];
  if (brokers === undefined)
    throw new Error('KAFKA_BROKERS is not set; npm run test:arrangements starts a broker.');
  return { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: `e2e-${systemIds.hex(6)}.` };
}

/** Stops the servers of all systems. */
export async function stopStores(): Promise<void> {
  for (const { server, folder } of servers) {
    await server.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
  servers.clear();
  stores.clear();
}
