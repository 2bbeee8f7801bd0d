import { Kafka, logLevel } from 'kafkajs';
import type { Message } from '../../message-bus.ts';

const foreigner = (brokers: readonly string[]) =>
  new Kafka({ brokers: [...brokers], clientId: 'foreigner', logLevel: logLevel.NOTHING });

/** For specs: publishes as any other program would that may write to the topic, with no limit but the broker's. */
export async function publishAsForeigner(
  brokers: readonly string[],
  { topic, partition }: { topic: string; partition: number },
  { key, value, headers }: Message,
): Promise<void> {
  const producer = foreigner(brokers).producer({ allowAutoTopicCreation: false });
  await producer.connect();
  try {
    const message = { key: Buffer.from(key), value: Buffer.from(value), headers, partition };
    await producer.send({ topic, messages: [message] });
  } finally {
    await producer.disconnect();
  }
}
