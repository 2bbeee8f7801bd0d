import { Kafka, logLevel } from 'kafkajs';
import type { Message } from '../../message-bus.ts';

/** For specs: publishes as any other program would that may write to the topic, with no limit but the broker's. */
export async function publishAsForeigner(
  brokers: readonly string[],
  { topic, partition }: { topic: string; partition: number },
  { key, value, headers }: Message,
): Promise<void> {
  const kafka = new Kafka({ brokers: [...brokers], clientId: 'foreigner', logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  try {
    const message = { key: Buffer.from(key), value: Buffer.from(value), headers, partition };
    await producer.send({ topic, messages: [message] });
  } finally {
    await producer.disconnect();
  }
}
