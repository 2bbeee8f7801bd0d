/** The broker and the event store of the tortured, each in a process of its own that fails like theirs. */
import { setTimeout as delay } from 'node:timers/promises';
import { type LocalBroker, localBroker, stopBrokers } from '../local-broker.ts';
import { type LocalEventStoreDb, startLocalEventStoreDb } from '../local-eventstoredb.ts';
import { newDataDir } from '../system.ts';
import type { Arrangement } from './arrangements.ts';
import type { Chance } from './chance.ts';

export interface Servers {
  /** The variables that lead to them. */
  env: Record<string, string>;
  /** Away for a while, in any way; resolves when it serves again. */
  breakBroker(chance: Chance): Promise<void>;
  breakStore(chance: Chance): Promise<void>;
}

const servers = new Set<LocalEventStoreDb>();
const brokers = new Set<LocalBroker>();

export async function startServers({ isOnKafka, isOnEventStoreDb }: Arrangement): Promise<Servers> {
  const broker = isOnKafka ? localBroker() : undefined;
  const store = isOnEventStoreDb ? await startLocalEventStoreDb(newDataDir()) : undefined;
  if (store !== undefined) servers.add(store);
  if (broker !== undefined) {
    brokers.add(broker);
    await broker.start();
  }
  return {
    env: {
      ...(store === undefined ? {} : { EVENTSTORE_URL: store.url }),
      ...(broker === undefined ? {} : { KAFKA_BROKERS: broker.brokers }),
    },
    breakBroker: (chance) => (broker === undefined ? Promise.resolve() : breakOne(broker, chance)),
    breakStore: (chance) => (store === undefined ? Promise.resolve() : breakOne(store, chance)),
  };
}

/** Stops the servers of all arrangements. */
export async function stopServers(): Promise<void> {
  for (const store of servers) await store.stop('SIGKILL');
  servers.clear();
  // One that is stopped would not end.
  for (const broker of brokers) broker.signal('SIGCONT');
  brokers.clear();
  await stopBrokers();
}

type Server = Pick<LocalBroker, 'start' | 'stop' | 'signal'>;

async function breakOne(server: Server, chance: Chance): Promise<void> {
  const how = chance.pick(['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const);
  const awayMs = chance.between(500, 15_000);
  if (how === 'SIGSTOP') server.signal('SIGSTOP');
  else await server.stop(how);
  await delay(awayMs);
  if (how === 'SIGSTOP') server.signal('SIGCONT');
  else await server.start();
}
