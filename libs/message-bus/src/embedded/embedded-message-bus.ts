import {
  type EventStore,
  StoreUnavailable,
  leaseDurationMsDefault,
  type RecordedEvent,
  beginning,
} from '@tollgate/event-store';
import { silentLog, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import {
  type BusRecord,
  BusUnavailable,
  type Message,
  type MessageBus,
  type ReadTopicOptions,
} from '../message-bus.ts';
import { consumeQueue } from './queue-consumer.ts';
import { requireBusName, toNewEvent, topicStream, toBusRecord } from './records.ts';

export interface EmbeddedMessageBusOptions {
  /** Keeps the records; `close` leaves it open. */
  store: EventStore;
  clock: Clock;
  ids: Ids;
  /** Identifies the process that reads a topic; passed to `isGone` of others. */
  holder: string;
  /** True if a holder has certainly ended: its topics are taken over at once. */
  isGone?: (holder: string) => boolean;
  /** How long a process that has ended keeps its topics otherwise. @default 10 seconds @unit milliseconds */
  leaseDurationMs?: number;
  log?: Log;
}

/** A durable queue in an event store: each topic is a stream, read by one process of a group at a time. */
export function createEmbeddedMessageBus(options: EmbeddedMessageBusOptions): MessageBus {
  const { store, ids } = options;
  const defaults = { isGone: () => false, leaseDurationMs: leaseDurationMsDefault, log: silentLog };
  const closing = new AbortController();
  const subscriptions = new Set<Promise<void>>();
  const requireOpen = () => {
    if (closing.signal.aborted)
      throw new BusUnavailable('bus_closed', 'The message bus is closed.', { retryable: false });
  };

  async function consumeAll(
    { group, topics, signal }: Parameters<MessageBus['subscribe']>[0],
    handle: Parameters<MessageBus['subscribe']>[1],
  ): Promise<void> {
    const until = AbortSignal.any([signal, closing.signal]);
    const consumer = { ...defaults, ...options, group, handle };
    await Promise.all(topics.map((topic) => consumeQueue({ ...consumer, topic }, until)));
  }

  return {
    isConnected: () => true,
    publish: async (topic, messages) => {
      requireOpen();
      requireBusName('topic', topic);
      await publish({ store, ids }, topic, messages);
    },
    subscribe: async (subscription, handle) => {
      requireOpen();
      requireBusName('group', subscription.group);
      for (const topic of subscription.topics) requireBusName('topic', topic);
      const consuming = consumeAll(subscription, handle);
      subscriptions.add(consuming);
      await consuming.finally(() => subscriptions.delete(consuming));
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(subscriptions);
    },
  };
}

/** One append after the other: a later message must not be there without an earlier one. */
async function publish(
  { store, ids }: Pick<EmbeddedMessageBusOptions, 'store' | 'ids'>,
  topic: string,
  messages: readonly Message[],
): Promise<void> {
  try {
    for (const message of messages)
      await store.append(topicStream(topic), [toNewEvent(ids.uuid(), message)], 'any');
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    const { retryable } = cause;
    const message = 'The event store of the message bus did not confirm.';
    throw new BusUnavailable('bus_unavailable', message, { retryable, cause });
  }
}

/** The records of a topic of the embedded message bus on this store. A topic that does not exist has none. */
export async function* readEmbeddedTopic(
  store: EventStore,
  topic: string,
  options: ReadTopicOptions,
): AsyncGenerator<BusRecord> {
  for await (const event of readEvents(store, [topicStream(topic)], options)) yield toBusRecord(topic, event);
}

/** The events of the streams with those prefixes, as the options of a reading have it. */
export async function* readEvents(
  store: EventStore,
  prefixes: readonly string[],
  { from, isFollowing = false, signal }: ReadTopicOptions,
): AsyncGenerator<RecordedEvent> {
  const end = await store.head();
  const begun = new Set<string>();
  // From the first one on that is new enough: times may go back within a stream, the order does not.
  const isWanted = ({ stream, recordedAt }: RecordedEvent): boolean => {
    if (typeof from === 'string' || recordedAt >= from.timestamp) begun.add(stream);
    return begun.has(stream);
  };
  const start = from === 'end' ? end : beginning;
  for await (const item of store.subscribe({ from: start, prefixes, signal })) {
    // A producer that writes faster than this reads must not keep it from ending.
    if (!isFollowing && item.position > end) return;
    if (item.kind === 'event' && isWanted(item)) yield item;
    if (!isFollowing && item.kind === 'caught-up') return;
  }
}
