import { type MessageBus, type Message } from '@tollgate/message-bus';

/** Of one batch. Kafka takes about 1 MiB for one partition at a time (`max.message.bytes`), and a record less than that. */
const messagesMax = 200;
const batchBytesMax = 900_000;
/** Of one record: one that is larger could not be published at all, and would hold up all that come after it. */
export const messageBytesMax = 600_000;

/** Messages of several topics, on their way to the bus. */
export interface Batch {
  add(topic: string, message: Message): void;
  /** True where another message would be too many. */
  isFull(): boolean;
  isEmpty(): boolean;
  /**
   * Publishes them, each topic in order, and is empty then.
   *
   * @throws BusUnavailable once nothing of it is written any more; some, all or none of it is
   */
  publish(): Promise<void>;
}

export function createBatch(bus: Pick<MessageBus, 'publish'>): Batch {
  const byTopic = new Map<string, Message[]>();
  let count = 0;
  let bytes = 0;
  return {
    add: (topic, message) => {
      const messages = byTopic.get(topic) ?? [];
      messages.push(message);
      byTopic.set(topic, messages);
      count += 1;
      bytes += bytesOf(message);
    },
    isFull: () => count >= messagesMax || bytes + messageBytesMax > batchBytesMax,
    isEmpty: () => count === 0,
    publish: async () => {
      const sends = [...byTopic].map(([topic, messages]) => bus.publish(topic, messages));
      const outcomes = await Promise.allSettled(sends);
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
      byTopic.clear();
      [count, bytes] = [0, 0];
    },
  };
}

export const bytesOf = ({ key, value, headers }: Message): number =>
  key.length + value.byteLength + JSON.stringify(headers).length;
