import { leaseDurationMsDefault, readLast, type EventStore } from '@tollgate/event-store';
import { silentLog, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { BusUnavailable } from '../errors.ts';
import type { MessageBus } from '../message-bus.ts';
import { takePart } from './group-member.ts';
import { createPartitionEnds } from './partition-ends.ts';
import { partitionOf, partitionStream, requireBusName } from './partition-streams.ts';
import { publish } from './publisher.ts';
import { toBusRecord } from './record-codec.ts';
import { createTopics } from './topics.ts';

export interface EmbeddedMessageBusOptions {
  /** Keeps the records; `close` leaves it open. */
  store: EventStore;
  clock: Clock;
  ids: Ids;
  /** Says who reads a partition; is shown to `isGone` of others. Let it name the process. */
  holder: string;
  /** True where a holder certainly does not run any more: its partitions are taken over at once. */
  isGone?: (holder: string) => boolean;
  /** How long a member that has died keeps its partitions otherwise; 10 seconds by default. */
  leaseDurationMs?: number;
  /** Of topics that are used for the first time; 4 by default. Topics that exist keep the number that they have. */
  partitions?: number;
  log?: Log;
}

/** A message bus in an event store: each partition of a topic is a stream, its offsets are the stream's revisions. */
export function createEmbeddedMessageBus(options: EmbeddedMessageBusOptions): MessageBus {
  const { store, ids, partitions = 4 } = options;
  const defaults = { isGone: () => false, leaseDurationMs: leaseDurationMsDefault, log: silentLog };
  const topics = createTopics({ store, ids, partitions });
  const ends = createPartitionEnds(store);
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
      await publish({ store, ids, topics, ends }, topic, messages);
    },
    subscribe: async ({ group, topics: names, signal }, handle) => {
      requireOpen();
      requireBusName('group', group);
      const member = { ...defaults, ...options, topics };
      const membership = { group, topics: names, signal: AbortSignal.any([signal, closing.signal]) };
      const taking = takePart(member, membership, handle);
      memberships.add(taking);
      await taking.finally(() => memberships.delete(taking));
    },
    lastPerPartition: async (topic) => {
      requireOpen();
      // Of a topic that is not there yet, too: another process may create it, and write to it, at this moment.
      const count = (await topics.existingPartitionCount(topic)) || partitions;
      const lasts = await Promise.all(
        Array.from({ length: count }, async (_, partition) => {
          const stream = partitionStream(topic, partition);
          const last = await readLast(store, stream);
          ends.know(stream, last?.revision ?? 'no-stream');
          return last && toBusRecord(topic, partition, last);
        }),
      );
      return lasts.filter((last) => last !== undefined);
    },
    endPerPartition: async (topic) => {
      requireOpen();
      const count = await topics.existingPartitionCount(topic);
      return Promise.all(
        Array.from({ length: count }, async (_, partition) => {
          const last = await readLast(store, partitionStream(topic, partition));
          return { partition, end: String(last === undefined ? 0 : last.revision + 1) };
        }),
      );
    },
    partitionOf: async (topic, key) => {
      requireOpen();
      return partitionOf(key, await topics.partitionCount(topic));
    },
    // The records are in the store of the events themselves.
    addressOf: async (topic) => `embedded/${topic}`,
    close: async () => {
      closing.abort();
      await Promise.allSettled(memberships);
    },
  };
}
