/**
 * Writes to one topic, one request at a time; messages published meanwhile are sent with the next one.
 *
 * A producer of kafkajs that has abandoned a send reuses its sequence number for the next one, and Kafka then confirms that as
 * a repeat without writing it. So a producer lives only until its first failure.
 */
import type { Clock } from '@tollgate/service-kit';
import { Partitioners, type ProducerConfig } from 'kafkajs';
import { BusUnavailable } from '../message-bus.ts';
import type { Message } from '../message-bus.ts';
import { clientRetry, createKafkaClient, type KafkaConnectionOptions } from './connection.ts';
import { toBusUnavailable, within } from './kafka-failure.ts';
import {
  bytesOf,
  headersBytesMax,
  recordBytesMax,
  requireRecordSize,
  toKafkaMessage,
} from './record-mapping.ts';

/** A request has at most one batch per partition, and Kafka's limit for a record applies to its batch. */
const flightBytesMax = recordBytesMax + headersBytesMax;
const flightRecordsMax = 5_000;
/** Maximum queue while Kafka is slow. */
const waitingBytesMax = 64 * 1_048_576;

export interface TopicWriterOptions {
  connection: KafkaConnectionOptions;
  topic: string;
  partitionOf: (key: string) => Promise<number>;
  clock: Clock;
  /** Timeout of unconfirmed messages. @unit milliseconds */
  deadlineMs: number;
}

export type TopicWriter = ReturnType<typeof createTopicWriter>;

interface Waiting {
  message: Message;
  bytes: number;
  /** Set on the last message of a call. */
  call: PromiseWithResolvers<undefined>;
  isLast: boolean;
}

export function createTopicWriter(options: TopicWriterOptions) {
  const { connection, topic, partitionOf, clock, deadlineMs } = options;
  const queue: Waiting[] = [];
  let waitingBytes = 0;
  let opened: ReturnType<typeof openProducer> | undefined;
  let flying: Promise<void> | undefined;

  async function flyUntilEmpty(): Promise<void> {
    while (queue.length > 0) {
      const flight = takeFlight(queue);
      try {
        await within(clock, deadlineMs, send(flight.map(({ message }) => message)));
        for (const { call, isLast } of flight) if (isLast) call.resolve(undefined);
      } catch (error) {
        discardProducer();
        // A later message must not be written without an earlier one: all waiting messages are rejected as well.
        const failure = toBusUnavailable(error);
        for (const { call } of [...flight, ...queue.splice(0)]) call.reject(failure);
        waitingBytes = 0;
        break;
      }
      for (const { bytes } of flight) waitingBytes -= bytes;
    }
    // At once: a caller before the promise settles would wait forever.
    flying = undefined;
  }

  async function send(messages: readonly Message[]): Promise<void> {
    const partitions = await Promise.all(messages.map(({ key }) => partitionOf(key)));
    opened ??= openProducer(connection);
    await opened.connected;
    await opened.producer.send({
      topic,
      acks: -1,
      messages: messages.map((message, index) => toKafkaMessage(message, partitions[index] ?? 0)),
    });
  }

  function discardProducer(): void {
    const { producer, sever } = opened ?? {};
    opened = undefined;
    sever?.();
    // Its requests end at their time limit, without a waiter.
    producer?.disconnect().catch((error: unknown) => {
      connection.log.debug({ operation: 'disconnect', topic, error }, 'a producer could not disconnect');
    });
  }

  return {
    /** @throws BusUnavailable */
    write: async (messages: readonly Message[]): Promise<void> => {
      for (const message of messages) requireRecordSize(topic, message);
      if (messages.length === 0) return;
      const sizes = messages.map(bytesOf);
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      if (waitingBytes > 0 && waitingBytes + bytes > waitingBytesMax)
        throw new BusUnavailable(
          'bus_overloaded',
          `Kafka is slow: too much waits for topic ${topic} already.`,
        );
      const call = Promise.withResolvers<undefined>();
      const last = messages.length - 1;
      for (const [index, message] of messages.entries())
        queue.push({ message, bytes: sizes[index] ?? 0, call, isLast: index === last });
      waitingBytes += bytes;
      flying ??= flyUntilEmpty();
      await call.promise;
    },
    /** Waits for sends under way. */
    close: async (): Promise<void> => {
      await flying;
      const { producer } = opened ?? {};
      opened = undefined;
      await producer?.disconnect();
    },
  };
}

function takeFlight(queue: Waiting[]): Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const each of queue) {
    bytes += each.bytes;
    if (count === flightRecordsMax || (count > 0 && bytes > flightBytesMax)) break;
    count += 1;
  }
  return queue.splice(0, count);
}

/**
 * One request at a time: a repeat must not follow later messages. An idempotent producer of kafkajs also waits by itself, as
 * long as its lock for each broker applies.
 */
export const producerConfig: ProducerConfig = {
  idempotent: true,
  maxInFlightRequests: 1,
  allowAutoTopicCreation: false,
  createPartitioner: Partitioners.DefaultPartitioner,
  retry: clientRetry,
};

function openProducer(connection: KafkaConnectionOptions) {
  const { kafka, sever } = createKafkaClient(connection);
  const producer = kafka.producer(producerConfig);
  const connected = producer.connect();
  connected.catch(() => undefined);
  return { producer, connected, sever };
}
