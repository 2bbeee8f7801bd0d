/** A store on its own test server, for specs. */
import { type Clock, silentLog, systemClock } from '@tollgate/service-kit';
import { onTestFinished } from 'vitest';
import type { EventStore } from '../event-store.ts';
import {
  type EventStoreDbOptions,
  type EventStoreDbStore,
  createEventStoreDbStore,
} from '../eventstoredb/eventstoredb-event-store.ts';
import type { Fate, ReceivedAppend } from './eventstoredb-server/faults.ts';
import { type TestServer, type TestServerOptions, startTestServer } from './eventstoredb-server/server.ts';
import { temporaryStore } from './temporary-store.ts';

export interface ServedStore {
  store: EventStoreDbStore;
  server: TestServer;
  /** The store behind the server. */
  kept: EventStore;
  /** Opens one more store on the same server, until the running test has ended. */
  another(options?: Partial<EventStoreDbOptions>): Promise<EventStoreDbStore>;
}

/** Everything is gone when the running test has ended. */
export async function servedStore(
  options: Partial<EventStoreDbOptions> & { server?: Omit<TestServerOptions, 'store'> } = {},
): Promise<ServedStore> {
  const kept = await temporaryStore();
  const server = await startTestServer({ store: kept, ...options.server });
  onTestFinished(() => server.close());
  const connection = {
    discovers: false,
    hosts: [{ address: '127.0.0.1', port: server.port }],
    tls: false,
  } as const;
  const another = async (others: Partial<EventStoreDbOptions> = {}) => {
    const defaults = { connection, clock: systemClock, log: silentLog };
    const store = await createEventStoreDbStore({ ...defaults, ...options, ...others });
    onTestFinished(() => store.close());
    return store;
  };
  return { store: await another(), server, kept, another };
}

/** Ten times as fast as the system's, for waits of seconds for a server that does not answer, or does not show an event. */
const hurriedClock: Clock = {
  now: systemClock.now,
  monotonic: () => 10 * systemClock.monotonic(),
  sleep: (durationMs, signal) => systemClock.sleep(durationMs / 10, signal),
  after: (durationMs, action) => systemClock.after(durationMs / 10, action),
};

/** By that clock, with a server that answers within half a second on the busiest machine. */
export const hurried = { clock: hurriedClock, appendTryMs: 5_000 };

/** Hides the next append that is wanted, from a leader without a quorum, until its fate is decided. */
export function hideNext(
  { faults }: Pick<TestServer, 'faults'>,
  isWanted: (append: ReceivedAppend) => boolean,
) {
  const decided = Promise.withResolvers<Fate>();
  const before = faults.onAppend;
  let hidden = 0;
  faults.onAppend = (append) => {
    if (hidden > 0 || !isWanted(append)) return before(append);
    hidden += 1;
    return { kind: 'hidden', until: decided.promise };
  };
  return { isHidden: () => hidden > 0, decide: (fate: Fate) => decided.resolve(fate) };
}
