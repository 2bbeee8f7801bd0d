/** A real broker for specs, at the address from `npm run test:kafka`. */
import { randomUUID } from 'node:crypto';
import { systemClock, silentLog } from '@tollgate/service-kit';
import { onTestFinished } from 'vitest';
import type { KafkaConnectionOptions } from '../kafka/connection.ts';
import { createKafkaMessageBus, type KafkaMessageBusOptions } from '../kafka/kafka-message-bus.ts';
import { openRelay, type TcpRelay } from './tcp-relay.ts';
import { ensureTopics, type TopicSpec } from '../kafka/topic-specs.ts';
import type { KafkaMessageBus } from '../message-bus.ts';

/** @throws Error if no broker is named: a suite that cannot run must not pass. */
export function kafkaBrokers(): readonly string[] {
  const brokers = process.env['KAFKA_BROKERS'];
  if (brokers === undefined || brokers === '')
    throw new Error(
      'These specs need a Kafka broker: run them with npm run test:kafka, or set KAFKA_BROKERS.',
    );
  return brokers.split(',');
}

export const givenConnection = (): KafkaConnectionOptions => ({
  brokers: kafkaBrokers(),
  clientId: 'tollgate-spec',
  log: silentLog,
});

export function openKafkaBus(options: Partial<KafkaMessageBusOptions> = {}): KafkaMessageBus {
  return createKafkaMessageBus({ ...givenConnection(), clock: systemClock, ...options });
}

/** Creates a topic and returns its name. */
export async function givenTopic(spec: Partial<TopicSpec> = {}): Promise<string> {
  const topic = spec.topic ?? `topic-${randomUUID()}`;
  const defaults = { partitions: 1, replication: 1, minInsyncReplicas: 1, retentionMs: 'forever' } as const;
  const differences = await ensureTopics({ ...givenConnection(), clock: systemClock }, [
    { ...defaults, cleanup: 'delete', ...spec, topic },
  ]);
  if (differences.length > 0) throw new Error(`Topic ${topic} is not as it was created.`);
  return topic;
}

/** A bus that reaches its broker through a relay, until the test has ended. */
export async function givenRelayedBus(
  options: Partial<KafkaMessageBusOptions> = {},
  { isDown = false }: { isDown?: boolean } = {},
): Promise<{ bus: KafkaMessageBus; relay: TcpRelay }> {
  const relay = await openRelay(kafkaBrokers()[0] ?? '');
  if (isDown) await relay.goDown();
  const bus = openKafkaBus({ route: () => relay.address, ...options });
  onTestFinished(async () => {
    await bus.close();
    await relay.close();
  });
  return { bus, relay };
}
