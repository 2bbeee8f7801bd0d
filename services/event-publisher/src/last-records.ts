import { type EventStore, type Position, beginning } from '@tollgate/event-store';
import { eventIdHeader, positionHeader, sequenceHeader } from '@tollgate/gateway-api';
import type { BusRecord, MessageBus } from '@tollgate/message-bus';
import { TollgateError } from '@tollgate/service-kit';
import { publishedKinds, publishedTopics } from './published-kinds.ts';

/** The last record of a partition, as far as a publisher resumes from it. */
interface LastRecord {
  key: string;
  /** How far the partition has come in the store. */
  position: Position;
  /** Revision of the event in the record. */
  revision: number;
}

/** What each partition had when this was read. */
export interface LastRecords {
  /** Undefined where the partition of this key has no record. */
  ofKey(topic: string, key: string): Promise<LastRecord | undefined>;
  /** The same of a partition. */
  ofPartition(topic: string, partition: number): LastRecord | undefined;
  /** Takes a partition for empty, whatever it has. */
  forget(topic: string, partition: number): void;
  /** True where an event of this key has reached its topic, unless its stream had failed. */
  reaches(topic: string, key: string, position: Position): Promise<boolean>;
  /** Notes that the partition of this key has another last record. */
  note(topic: string, last: LastRecord): Promise<void>;
}

interface Dependencies {
  store: Pick<EventStore, 'read'>;
  bus: Pick<MessageBus, 'lastPerPartition' | 'partitionOf'>;
}

/**
 * @param end a position after all that was published from this store
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
    ofPartition: (topic, partition) => byPartition.get(nameOf(topic, partition)),
    forget: (topic, partition) => void byPartition.delete(nameOf(topic, partition)),
    reaches: async (topic, key, position) =>
      position <= furthest && position <= ((await ofKey(topic, key))?.position ?? beginning),
    note: async (topic, last) => void byPartition.set(await partitionOf(topic, last.key), last),
  };
}

const toLastRecord = ({ key, headers }: BusRecord): LastRecord => ({
  key,
  position: (headers[positionHeader] ?? beginning) as Position,
  revision: Number(headers[sequenceHeader] ?? -1),
});

/**
 * A topic may have outlived its store, which was restored from a backup, or recreated. Positions of the two cannot be
 * compared, and what looks as if it were published already would be left out silently.
 *
 * @throws TollgateError `topic_of_another_store` where the store does not have the record's event
 */
async function requireOfStore(store: Dependencies['store'], record: BusRecord, end: Position): Promise<void> {
  const { topic, partition, key, headers } = record;
  const kind = publishedKinds.find((each) => each.topic === topic);
  // What others have written there says nothing about a store.
  if (kind === undefined || headers[positionHeader] === undefined) return;
  const { revision, position } = toLastRecord(record);
  const stream = `${kind.views.streamPrefix}${key}`;
  // The position may be that of a later event than the record's: it says how far the partition has come.
  if (position <= end && Number.isSafeInteger(revision) && revision >= 0)
    for await (const { id } of store.read(stream, { from: revision, limit: 1 }))
      if (id === headers[eventIdHeader]) return;
  throw new TollgateError(
    'topic_of_another_store',
    `The last record of ${topic}, partition ${partition}, is event ${revision} of ${stream}, which this event store does not have: the store was restored or recreated. Set a KAFKA_TOPIC_PREFIX that was not used yet, and all events are published there.`,
    { retryable: true },
  );
}
