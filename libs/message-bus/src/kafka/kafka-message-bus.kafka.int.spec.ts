import { randomUUID } from 'node:crypto';
import { describeMessageBus } from '../testing/message-bus.contract.ts';
import { givenTopic, openKafkaBus } from '../testing/kafka.ts';

for (const partitions of [1, 4]) {
  describeMessageBus(`the message bus on Kafka with topics of ${partitions} partitions`, async () => ({
    bus: openKafkaBus(),
    openAnother: async () => openKafkaBus(),
    freshTopic: () => givenTopic({ topic: `topic-${randomUUID()}`, partitions }),
  }));
}
