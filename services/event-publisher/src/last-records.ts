import { type Position, beginning } from '@tollgate/event-store';
import { positionHeader, sequenceHeader } from '@tollgate/gateway-events';
import type { BusRecord, MessageBus } from '@tollgate/message-bus';
import { publishedTopics } from './published-kinds.ts';

/** The last record of a partition, as far as a publisher resumes from it. */
export interface LastRecord {
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
  /** True where an event of this key has reached its topic, unless its stream had failed. */
  reaches(topic: string, key: string, position: Position): Promise<boolean>;
  /** Notes that the partition of this key has another last record. */
  note(topic: string, last: LastRecord): Promise<void>;
}

type Bus = Pick<MessageBus, 'lastPerPartition' | 'partitionOf'>;

/** @throws BusUnavailable */
export async function readLastRecords(bus: Bus): Promise<LastRecords> {
  const records = (await Promise.all(publishedTopics.map((topic) => bus.lastPerPartition(topic)))).flat();
  const nameOf = (topic: string, partition: number) => `${topic} ${partition}`;
  const byPartition = new Map(
    records.map((record) => [nameOf(record.topic, record.partition), toLastRecord(record)]),
  );
  const furthest = [...byPartition.values()].reduce((a, { position: b }) => (a > b ? a : b), beginning);
  const partitionOf = async (topic: string, key: string) => nameOf(topic, await bus.partitionOf(topic, key));
  const ofKey = async (topic: string, key: string) => byPartition.get(await partitionOf(topic, key));

  return {
    ofKey,
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
