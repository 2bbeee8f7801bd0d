/** The event store: a local file, or EventStoreDB if its address is configured. */
import type { MessagePort } from 'node:worker_threads';
import {
  type EmbeddedEventStore,
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

/** `connection` lets another thread of this process open the same file. */
type OpenedStore = EventStore & Pick<EmbeddedEventStore, 'isReachable'> & Partial<EmbeddedEventStore>;

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
    return createEventStoreDbStore({ connection: eventStore, clock, log });
  }
  // Uncaught, so it ends the process: its supervisor restarts it, and nothing acknowledged is lost.
  const onWriterStopped = (error: Error) => {
    throw error;
  };
  const options = { file, clock, log, onWriterStopped, ...omitUndefined({ connection }) };
  return createEmbeddedEventStore(options);
}
