import { type EventStore, type RecordedEvent, beginning } from '@tollgate/event-store';
import type { ReadTopicOptions, TopicReader } from '../message-bus.ts';
import { requireBusName, toBusRecord, topicStream } from './records.ts';

/** Reads the topics of the embedded message bus on this store. */
export const createEmbeddedTopicReader = ({ store }: { store: EventStore }): TopicReader => ({
  async *readTopic(topic, options) {
    requireBusName('topic', topic);
    for await (const event of readEvents(store, [topicStream(topic)], options))
      yield toBusRecord(topic, event);
  },
});

/** The events of the streams with those prefixes, as the options of a reading have it. */
export async function* readEvents(
  store: EventStore,
  prefixes: readonly string[],
  { from, isFollowing = false, signal }: ReadTopicOptions,
): AsyncGenerator<RecordedEvent> {
  const end = await store.head();
  const begun = new Set<string>();
  // From the first one on that is new enough: times may go back within a stream, the order does not.
  const isWanted = ({ stream, recordedAt }: RecordedEvent): boolean => {
    if (typeof from === 'string' || recordedAt >= from.timestamp) begun.add(stream);
    return begun.has(stream);
  };
  const start = from === 'end' ? end : beginning;
  for await (const item of store.subscribe({ from: start, prefixes, signal })) {
    // A producer that writes faster than this reads must not keep it from ending.
    if (!isFollowing && item.position > end) return;
    if (item.kind === 'event' && isWanted(item)) yield item;
    if (!isFollowing && item.kind === 'caught-up') return;
  }
}
