/** The last record of each partition: the publisher resumes there after an unclean stop. */
import { type EventStore, type Position, beginning } from '@tollgate/event-store';
import { eventIdHeader, positionHeader, sequenceHeader, subjectHeader } from '@tollgate/gateway-api';
import type { BusRecord, KafkaMessageBus, Message } from '@tollgate/message-bus';
import { TollgateError } from '@tollgate/service-kit';
import { streamOf } from '@tollgate/views';
import { publishedTopics, sourcesOfTopics } from './topic-records.ts';

export interface LastRecord {
  /** Every event up to here that belongs on the partition is there, except those of quarantined streams. */
  position: Position;
  /** The payment, payout, dispute or transfer of the event, and the event's revision in its stream. */
  subject: string;
  revision: number;
  /** Number of the entry, if the event has several. */
  number: number;
}

type Outgoing = Pick<Message, 'key' | 'headers'> & { topic: string };

export type LastRecords = Awaited<ReturnType<typeof readLastRecords>>;

interface Dependencies {
  store: Pick<EventStore, 'read'>;
  bus: Pick<KafkaMessageBus, 'lastPerPartition' | 'partitionOf'>;
}

/**
 * @param end a position after everything published from this store
 * @throws BusUnavailable, StoreUnavailable; TollgateError `topic_of_another_store`
 */
export async function readLastRecords({ store, bus }: Dependencies, end: Position) {
  const records = (await Promise.all(publishedTopics.map((topic) => bus.lastPerPartition(topic)))).flat();
  await Promise.all(records.map((record) => requireOfStore(store, record, end)));
  const nameOf = (topic: string, partition: number) => `${topic} ${partition}`;
  const byPartition = new Map(
    records.map((record) => [nameOf(record.topic, record.partition), toLastRecord(record)]),
  );
  const furthest = [...byPartition.values()].reduce((a, { position: b }) => (a > b ? a : b), beginning);
  const partitionOf = async ({ topic, key }: Outgoing) => nameOf(topic, await bus.partitionOf(topic, key));
  const of = async (record: Outgoing) => byPartition.get(await partitionOf(record));
  return {
    /** Undefined if the partition of this record is empty. */
    of,
    /** Position of the furthest partition. */
    furthest,
    /** Notes this record as the last one of its partition. */
    note: async (record: Outgoing): Promise<void> =>
      void byPartition.set(await partitionOf(record), toLastRecord(record)),
    /** True if this record is on its topic, unless its stream was quarantined. */
    reaches: async (record: Outgoing): Promise<boolean> => {
      const { position } = toLastRecord(record);
      return position <= furthest && position <= ((await of(record))?.position ?? beginning);
    },
  };
}

export const toLastRecord = ({ headers }: Pick<Message, 'headers'>): LastRecord => ({
  position: (headers[positionHeader] ?? beginning) as Position,
  subject: headers[subjectHeader] ?? '',
  revision: Number(headers[sequenceHeader] ?? -1),
  number: Number(headers[eventIdHeader]?.split('.')[1] ?? 0),
});

/** A record of the same stream, and not before the other. */
export const isAtOrAfter = (one: LastRecord | undefined, other: LastRecord): boolean =>
  one?.subject === other.subject &&
  (one.revision > other.revision || (one.revision === other.revision && one.number >= other.number));

/**
 * Positions of a topic and of a restored or recreated store cannot be compared: events would be omitted silently.
 *
 * @throws TollgateError `topic_of_another_store` if the store does not have the record's event
 */
async function requireOfStore(store: Dependencies['store'], record: BusRecord, end: Position): Promise<void> {
  const { topic, partition, headers } = record;
  // A record of another program proves nothing about a store.
  if (headers[positionHeader] === undefined) return;
  const { revision, position, subject } = toLastRecord(record);
  const streams = (sourcesOfTopics.get(topic) ?? []).map((kind) => streamOf(kind, subject));
  // The id of a journal entry is that of its event and a number.
  const [eventId] = (headers[eventIdHeader] ?? '').split('.');
  if (position <= end && Number.isSafeInteger(revision) && revision >= 0)
    for (const stream of streams)
      for await (const { id } of store.read(stream, { from: revision, limit: 1 })) if (id === eventId) return;
  throw new TollgateError(
    'topic_of_another_store',
    `The last record of ${topic}, partition ${partition}, is event ${revision} of ${subject}, which this event store does not have: the store was restored or recreated. Set an unused KAFKA_TOPIC_PREFIX to publish all events there.`,
    { retryable: true },
  );
}
