import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import type { BusRecord } from '../message-bus.ts';
import type { ReadTopicOptions, TopicReader } from '../topic-reader.ts';
import { partitionStream, topicPrefix } from './partition-streams.ts';
import { toBusRecord } from './record-codec.ts';
import { readPartitionCount } from './topics.ts';

/** Reads the topics of the embedded message bus on this store, in the order in which the bus took the records. */
export const createEmbeddedTopicReader = ({ store }: { store: EventStore }): TopicReader => ({
  readTopic: (topic, options) => readTopic(store, topic, options),
});

async function* readTopic(
  store: EventStore,
  topic: string,
  { from, isFollowing = false, signal }: ReadTopicOptions,
): AsyncGenerator<BusRecord> {
  const end = await endOf(store, topic);
  const start = from === 'end' ? end : beginning;
  // A producer that writes faster than we read must not keep us from ending.
  const last = isFollowing ? undefined : end;
  if (start === last) return;
  const isWanted = createStart(from);
  const prefix = topicPrefix(topic);
  for await (const item of store.subscribe({ from: start, prefixes: [prefix], signal })) {
    if (last !== undefined && item.position > last) return;
    if (item.kind === 'event' && isWanted(item))
      yield toBusRecord(topic, Number(item.stream.slice(prefix.length)), item);
    if (item.position === last) return;
  }
}

/** Where the last record of the topic is; the beginning where it has none. */
async function endOf(store: EventStore, topic: string): Promise<Position> {
  const count = await readPartitionCount(store, topic);
  let end = beginning;
  for (let partition = 0; partition < count; partition += 1) {
    const last = store.read(partitionStream(topic, partition), { direction: 'backwards', limit: 1 });
    for await (const { position } of last) if (position > end) end = position;
  }
  return end;
}

/** Lets through each partition's records from the first one on that is new enough: times may go back, the order does not. */
function createStart(from: ReadTopicOptions['from']): (event: RecordedEvent) => boolean {
  if (typeof from === 'string') return () => true;
  const begun = new Set<string>();
  return ({ stream, recordedAt }) => {
    if (recordedAt >= from.timestamp) begun.add(stream);
    return begun.has(stream);
  };
}
