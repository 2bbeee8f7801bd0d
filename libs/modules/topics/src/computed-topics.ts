/** The records of the public topics, computed from the events when they are read: the same as on Kafka. */
import type { EventStore } from '@tollgate/event-store';
import { type BusRecord, type ReadTopicOptions, readEmbeddedTopic, readEvents } from '@tollgate/message-bus';
import { positionHeader } from '@tollgate/gateway-api';
import { isRetryable } from '@tollgate/service-kit';
import { createRecordsOf, sourcesOfTopics } from './topic-records.ts';

/**
 * The records of a public topic are computed from the events; other topics are those of the embedded bus. An event that cannot
 * become a record has an empty value.
 */
export async function* readTopic(
  store: EventStore,
  topic: string,
  options: ReadTopicOptions,
): AsyncGenerator<BusRecord> {
  const sources = sourcesOfTopics.get(topic);
  if (sources === undefined) {
    yield* readEmbeddedTopic(store, topic, options);
    return;
  }
  const recordsOf = createRecordsOf(store);
  const prefixes = sources.map(({ streamPrefix }) => streamPrefix);
  for await (const event of readEvents(store, prefixes, options)) {
    const { position: offset, recordedAt: timestamp, stream } = event;
    const place = { topic, partition: 0, offset, timestamp };
    try {
      for (const record of await recordsOf(event))
        if (record.topic === topic)
          yield { ...place, offset: record.headers[positionHeader] ?? offset, ...record };
    } catch (error) {
      if (isRetryable(error)) throw error;
      yield { ...place, key: stream.slice(stream.indexOf('-') + 1), value: new Uint8Array(), headers: {} };
    }
  }
}
