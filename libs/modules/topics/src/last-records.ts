/** The last record of each partition: what a publisher resumes from after an unclean stop. */
import { type EventStore, type Position, beginning } from '@tollgate/event-store';
import { eventIdHeader, positionHeader, sequenceHeader } from '@tollgate/gateway-api';
import type { BusRecord, KafkaMessageBus } from '@tollgate/message-bus';
import { TollgateError } from '@tollgate/service-kit';
import { publishedKinds, publishedTopics } from './topic-records.ts';

interface LastRecord {
  key: string;
  /** Every event up to here that belongs on the partition is there, except those of quarantined streams. */
  position: Position;
  /** Revision of the event in the record. */
  revision: number;
}

export interface LastRecords {
  /** Undefined if the partition of this key has no record. */
  ofKey(topic: string, key: string): Promise<LastRecord | undefined>;
  /** Notes that the partition of this key has another last record. */
  note(topic: string, last: LastRecord): Promise<void>;
  /** True if an event of this key at this position is on its topic, unless its stream was quarantined. */
  reaches(topic: string, key: string, position: Position): Promise<boolean>;
}

interface Dependencies {
  store: Pick<EventStore, 'read'>;
  bus: Pick<KafkaMessageBus, 'lastPerPartition' | 'partitionOf'>;
}

/**
 * @param end a position after everything that was published from this store
 * @throws BusUnavailable, StoreUnavailable; TollgateError `topic_of_another_store`
 */
export async function readLastRecords({ store, bus }: Dependencies, end: Position): Promise<LastRecords> {
  const records = (await Promise.all(publishedTopics.map((topic) => bus.lastPerPartition(topic)))).flat();
  await Promise.all(records.map((record) => requireOfStore(store, record, end)));
  const nameOf = (topic: string, partition: number) => `${topic} ${partition}`;
  const byPartition = new Map(
    records.map((record) => [nameOf(record.topic, record.partition), toLastRecord(record)]),
  );
  const furthest = [...byPartition.values()].reduce((a, { position: b }) => (a > b ? a : b), beginning);
  const partitionOf = async (topic: string, key: string) => nameOf(topic, await bus.partitionOf(topic, key));
  const ofKey = async (topic: string, key: string) => byPartition.get(await partitionOf(topic, key));
  return {
    ofKey,
    note: async (topic, last) => void byPartition.set(await partitionOf(topic, last.key), last),
    reaches: async (topic, key, position) =>
      position <= furthest && position <= ((await ofKey(topic, key))?.position ?? beginning),
  };
}

const toLastRecord = ({ key, headers }: BusRecord): LastRecord => ({
  key,
  position: (headers[positionHeader] ?? beginning) as Position,
  revision: Number(headers[sequenceHeader] ?? -1),
});

/**
 * Positions of a topic and of a store that was restored or recreated cannot be compared: events would be left out silently.
 *
 * @throws TollgateError `topic_of_another_store` if the store does not have the record's event
 */
async function requireOfStore(store: Dependencies['store'], record: BusRecord, end: Position): Promise<void> {
  const { topic, partition, key, headers } = record;
  const kind = publishedKinds.find((each) => each.topic === topic);
  // A record of another program says nothing about a store.
  if (kind === undefined || headers[positionHeader] === undefined) return;
  const { revision, position } = toLastRecord(record);
  const stream = `${kind.views.streamPrefix}${key}`;
  if (position <= end && Number.isSafeInteger(revision) && revision >= 0)
    for await (const { id } of store.read(stream, { from: revision, limit: 1 }))
      if (id === headers[eventIdHeader]) return;
  throw new TollgateError(
    'topic_of_another_store',
    `The last record of ${topic}, partition ${partition}, is event ${revision} of ${stream}, which this event store does not have: the store was restored or recreated. Set a KAFKA_TOPIC_PREFIX that was not used yet, and all events are published there.`,
    { retryable: true },
  );
}
