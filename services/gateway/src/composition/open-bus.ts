/** The message bus: embedded in the event store, or Kafka where its brokers are named. */
import type { EventStore } from '@tollgate/event-store';
import { gatewayTopics } from '@tollgate/gateway-events';
import {
  type MessageBus,
  createEmbeddedMessageBus,
  createKafkaMessageBus,
  ensureTopics,
  prefixTopics,
} from '@tollgate/message-bus';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { type KafkaConfig, toTopicSpec } from '../configuration/kafka-config.ts';

export interface BusDependencies {
  kafka: KafkaConfig | undefined;
  /** Of the embedded bus; Kafka needs none. */
  store: () => Promise<EventStore>;
  clock: Clock;
  ids: Ids;
  log: Log;
  holder: string;
  isGone: (holder: string) => boolean;
}

/** Pause between two tries to make the topics while no broker answers, milliseconds. */
const topicsPauseMs = 5_000;

/** So long the callbacks of a process that was killed wait for another one, milliseconds. */
const sessionTimeoutMs = 10_000;

/** Needs no broker: the bus connects, and makes the topics that are missing, as soon as there is one. */
export async function openBus(
  deps: BusDependencies,
): Promise<{ bus: MessageBus; close: () => Promise<void> }> {
  const { kafka, ...embedded } = deps;
  if (kafka === undefined) {
    const bus = createEmbeddedMessageBus({ ...embedded, store: await embedded.store() });
    return { bus, close: () => bus.close() };
  }
  const { clock, log } = deps;
  const cluster = createKafkaMessageBus({ ...kafka.connection, clock, log, sessionTimeoutMs });
  const bus = prefixTopics(cluster, kafka.topicPrefix);
  const closing = new AbortController();
  const making = makeTopics(deps, kafka, closing.signal);
  return {
    bus,
    close: async () => {
      closing.abort();
      await Promise.all([making, bus.close()]);
    },
  };
}

async function makeTopics(
  { clock, log }: BusDependencies,
  kafka: KafkaConfig,
  signal: AbortSignal,
): Promise<void> {
  const specs = gatewayTopics.map((topic) => toTopicSpec(topic, kafka));
  while (!signal.aborted) {
    try {
      const differences = await ensureTopics({ ...kafka.connection, clock, log }, specs);
      for (const { topic, setting } of differences)
        log.warn(
          { topic, code: setting },
          'a topic differs from what it should be; tollgate topics check tells how',
        );
      return;
    } catch (error) {
      log.warn({ error, waitMs: topicsPauseMs }, 'the topics could not be made; it is tried again');
      await clock.sleep(topicsPauseMs, signal).catch(() => undefined);
    }
  }
}
