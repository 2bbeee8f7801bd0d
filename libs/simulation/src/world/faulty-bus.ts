/** The bus as one process reaches it: a Kafka in memory for the public topics, and the embedded bus for callbacks. */
import { type BusRecord, BusUnavailable, type KafkaMessageBus, type MessageBus } from '@tollgate/message-bus';
import type { World } from '../world.ts';
import type { Life } from './machine.ts';

/**
 * Callbacks are queued in the store, public records are published to a broker. Either may fail before, after, or halfway through.
 */
export function createFaultyBus(
  { faults, downUntil, scheduler, broker }: World,
  bus: MessageBus,
  life: Life,
): KafkaMessageBus {
  const unavailable = () => new BusUnavailable('bus_unavailable', 'The simulated bus does not confirm.');
  return {
    ...broker,
    ...bus,
    publish: async (topic, sent) => {
      const { publish } = topic.startsWith('gateway.') ? broker : bus;
      // A send that was on the wire at a takeover may repeat a batch (docs/operator/kafka.md). Consumers drop it by `ce_id`.
      const isRepeat = ({ headers }: (typeof sent)[number]) =>
        broker.records.some((known) => known.topic === topic && known.headers['ce_id'] === headers['ce_id']);
      const messages = life.isWaking() ? sent.filter((message) => !isRepeat(message)) : sent;
      if (scheduler.now() < downUntil.bus) throw unavailable();
      if (faults.strikes('bus-partly-written', life.random)) {
        await publish(topic, messages.slice(0, life.random.whole(0, messages.length)));
        throw unavailable();
      }
      return publish(topic, messages);
    },
  };
}

/** An in-memory Kafka with one partition per topic. It keeps every accepted record. */
export interface Broker extends Pick<
  KafkaMessageBus,
  'publish' | 'lastPerPartition' | 'partitionOf' | 'address'
> {
  /** All published records, in order. */
  records: readonly BusRecord[];
}

export function createBroker(address: string): Broker {
  const records: BusRecord[] = [];
  return {
    records,
    publish: async (topic, messages) => {
      for (const message of messages)
        records.push({ ...message, topic, partition: 0, offset: String(records.length), timestamp: 0 });
    },
    lastPerPartition: async (topic) => {
      const last = records.findLast((record) => record.topic === topic);
      return last === undefined ? [] : [last];
    },
    partitionOf: async () => 0,
    address: async () => address,
  };
}
