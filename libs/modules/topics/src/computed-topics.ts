/** Without Kafka, the public topics are computed from the events when they are read. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import {
  type BusRecord,
  type TopicReader,
  createEmbeddedTopicReader,
  readEvents,
} from '@tollgate/message-bus';
import { positionHeader } from '@tollgate/gateway-api';
import { isRetryable } from '@tollgate/service-kit';
import { createRecordsOf, sourcesOfTopics } from './topic-records.ts';

/** Reads the public topics from the events in a store; any other topic belongs to the embedded bus. */
export function createComputedTopicReader({ store }: { store: EventStore }): TopicReader {
  const recordsOf = createRecordsOf(store);
  const embedded = createEmbeddedTopicReader({ store });

  /** An event without a possible record has an empty value. */
  async function toBusRecords(topic: string, event: RecordedEvent): Promise<BusRecord[]> {
    const { position: offset, recordedAt: timestamp, stream } = event;
    const place = { topic, partition: 0, offset, timestamp };
    try {
      const records = (await recordsOf(event)).filter((record) => record.topic === topic);
      return records.map((record) => ({
        ...place,
        offset: record.headers[positionHeader] ?? offset,
        ...record,
      }));
    } catch (error) {
      if (isRetryable(error)) throw error;
      const key = stream.slice(stream.indexOf('-') + 1);
      return [{ ...place, key, value: new Uint8Array(), headers: {} }];
    }
  }

  return {
    async *readTopic(topic, options) {
      const sources = sourcesOfTopics.get(topic);
      if (sources === undefined) {
        yield* embedded.readTopic(topic, options);
        return;
      }
      const prefixes = sources.map(({ streamPrefix }) => streamPrefix);
      for await (const event of readEvents(store, prefixes, options)) yield* await toBusRecords(topic, event);
    },
  };
}
