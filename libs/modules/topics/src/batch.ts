import { gatewayJournalTopic } from '@tollgate/gateway-api';
import type { Message, MessageBus } from '@tollgate/message-bus';
import { bytesOf, messageBytesMax, type TopicRecord } from './topic-records.ts';

const messagesMax = 200;
const batchBytesMax = 900_000;

/** Messages of several topics for the bus. */
export type Batch = ReturnType<typeof createBatch>;

export function createBatch(bus: Pick<MessageBus, 'publish'>) {
  const byTopic = new Map<string, Message[]>();
  let count = 0;
  let bytes = 0;
  return {
    add: ({ topic, ...message }: TopicRecord): void => {
      const messages = byTopic.get(topic) ?? [];
      messages.push(message);
      byTopic.set(topic, messages);
      count += 1;
      bytes += bytesOf(message);
    },
    /** True if the batch is full. */
    isFull: (): boolean => count >= messagesMax || bytes + messageBytesMax > batchBytesMax,
    isEmpty: (): boolean => count === 0,
    /**
     * Publishes each topic in order and empties the batch. The journal is first, so that an event whose own record is published
     * needs nothing else.
     *
     * @throws BusUnavailable once every send has ended: some, all or none of the messages are written
     */
    publish: async (): Promise<void> => {
      const entries = byTopic.get(gatewayJournalTopic);
      byTopic.delete(gatewayJournalTopic);
      if (entries !== undefined) await bus.publish(gatewayJournalTopic, entries);
      const sends = [...byTopic].map(([topic, messages]) => bus.publish(topic, messages));
      const outcomes = await Promise.allSettled(sends);
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
      byTopic.clear();
      [count, bytes] = [0, 0];
    },
  };
}
