import { randomUUID } from 'node:crypto';
import { systemClock } from '@tollgate/service-kit';
import { describeTopicReader } from '../testing/topic-reader.contract.ts';
import { givenConnection, givenTopic, openKafkaBus } from '../testing/kafka.ts';
import { createKafkaTopicReader } from './kafka-topic-reader.ts';

for (const partitions of [1, 4]) {
  describeTopicReader(`the topic reader on Kafka with topics of ${partitions} partitions`, async () => ({
    bus: openKafkaBus(),
    openAnother: async () => openKafkaBus(),
    reader: createKafkaTopicReader({ ...givenConnection(), clock: systemClock }),
    freshTopic: () => givenTopic({ topic: `topic-${randomUUID()}`, partitions }),
  }));
}
