/** The event store: a local file, or EventStoreDB if its address is configured. */
import type { MessagePort } from 'node:worker_threads';
import {
  type EventStore,
  type EventStoreDbConnection,
  createEmbeddedEventStore,
} from '@tollgate/event-store';
import { type Clock, type Log, omitUndefined } from '@tollgate/service-kit';

export interface StoreDependencies {
  /** Undefined if the store is a file. */
  eventStore: EventStoreDbConnection | undefined;
  /** That file. */
  file: string;
  /** To the writer of that file which another thread of this process has started. */
  connection?: MessagePort | undefined;
  clock: Clock;
  log: Log;
}

export interface OpenedStore {
  store: EventStore;
  /** False while the store does not answer, or its disk is full: nothing can be recorded then. */
  isReachable: () => boolean;
  /** Lets another thread of this process open the same file. */
  connection?: () => MessagePort;
}

/**
 * @throws StartupError if the file cannot be used, or EventStoreDB has not answered within 30 seconds or does not let
 * us in
 */
export async function openStore({
  eventStore,
  file,
  connection,
  clock,
  log,
}: StoreDependencies): Promise<OpenedStore> {
  if (eventStore !== undefined) {
    const { createEventStoreDbStore } = await import('@tollgate/event-store/eventstoredb');
    const store = await createEventStoreDbStore({ connection: eventStore, clock, log });
    return { store, isReachable: store.isReachable };
  }
  // Uncaught, so it ends the process: its supervisor restarts it, and nothing acknowledged is lost.
  const onWriterStopped = (error: Error) => {
    throw error;
  };
  const options = { file, clock, log, onWriterStopped, ...omitUndefined({ connection }) };
  const store = await createEmbeddedEventStore(options);
  return { store, isReachable: store.isReachable, connection: store.connection };
}
