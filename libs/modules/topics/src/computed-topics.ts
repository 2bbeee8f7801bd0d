/** Without Kafka, the public topics are computed from the events when they are read. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import {
  type BusRecord,
  type TopicReader,
  createEmbeddedTopicReader,
  readEvents,
} from '@tollgate/message-bus';
import { isRetryable } from '@tollgate/service-kit';
import { createRecordOf, publishedKinds } from './topic-records.ts';

/** Reads the public topics of the events in a store; any other topic is one of the embedded bus. */
export function createComputedTopicReader({ store }: { store: EventStore }): TopicReader {
  const recordOf = createRecordOf(store);
  const embedded = createEmbeddedTopicReader({ store });

  /** An event of which no record can be made has an empty value. */
  async function toBusRecord(topic: string, key: string, event: RecordedEvent): Promise<BusRecord> {
    const place = { topic, partition: 0, offset: event.position, timestamp: event.recordedAt };
    try {
      const { value, headers } = await recordOf(event);
      return { ...place, key, value, headers };
    } catch (error) {
      if (isRetryable(error)) throw error;
      return { ...place, key, value: new Uint8Array(), headers: {} };
    }
  }

  return {
    async *readTopic(topic, options) {
      const kind = publishedKinds.find((each) => each.topic === topic);
      if (kind === undefined) {
        yield* embedded.readTopic(topic, options);
        return;
      }
      const { streamPrefix } = kind.views;
      for await (const event of readEvents(store, streamPrefix, options))
        yield await toBusRecord(topic, event.stream.slice(streamPrefix.length), event);
    },
  };
}
