import { leaseDurationMsDefault, type EventStore } from '@tollgate/event-store';
import { silentLog, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { BusUnavailable, type MessageBus } from '../message-bus.ts';
import { takePart } from './group-member.ts';
import { publish } from './records.ts';
import { createPartitionCounts, requireBusName } from './topics.ts';

export interface EmbeddedMessageBusOptions {
  /** Keeps the records; `close` leaves it open. */
  store: EventStore;
  clock: Clock;
  ids: Ids;
  /** Identifies the process that reads a partition; passed to `isGone` of others. */
  holder: string;
  /** True if a holder has certainly ended: its partitions are taken over at once. */
  isGone?: (holder: string) => boolean;
  /** How long a member that has died keeps its partitions otherwise; 10 seconds by default. */
  leaseDurationMs?: number;
  /** Partitions of new topics; 4 by default. Existing topics keep their number. */
  partitions?: number;
  log?: Log;
}

/** A durable queue in an event store: each partition of a topic is a stream, its offsets are the stream's revisions. */
export function createEmbeddedMessageBus(options: EmbeddedMessageBusOptions): MessageBus {
  const { store, ids, partitions = 4 } = options;
  const defaults = { isGone: () => false, leaseDurationMs: leaseDurationMsDefault, log: silentLog };
  const partitionCount = createPartitionCounts({ store, ids }, partitions);
  const closing = new AbortController();
  const memberships = new Set<Promise<void>>();
  const requireOpen = () => {
    if (closing.signal.aborted)
      throw new BusUnavailable('bus_closed', 'The message bus is closed.', { retryable: false });
  };
  return {
    isConnected: () => true,
    publish: async (topic, messages) => {
      requireOpen();
      await publish({ store, ids, partitionCount }, topic, messages);
    },
    subscribe: async ({ group, topics, signal }, handle) => {
      requireOpen();
      requireBusName('group', group);
      const member = { ...defaults, ...options, partitionCount };
      const membership = { group, topics, signal: AbortSignal.any([signal, closing.signal]) };
      const taking = takePart(member, membership, handle);
      memberships.add(taking);
      await taking.finally(() => memberships.delete(taking));
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(memberships);
    },
  };
}
