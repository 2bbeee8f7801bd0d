/** Reads a broker's topics from outside, and compares them with the event store. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RecordedEvent, beginning, createEmbeddedEventStore } from '@tollgate/event-store';
import { type EncodedRecord } from '@tollgate/core';
import {
  cloudEventType,
  decodeDisputeRecord,
  decodePaymentRecord,
  decodePayoutRecord,
  gatewayDisputesTopic,
  gatewayJournalTopic,
  gatewayPaymentsTopic,
  gatewayPayoutsTopic,
  positionHeader,
  sequenceHeader,
} from '@tollgate/gateway-api';
import type { BusRecord, KafkaMessageBus } from '@tollgate/message-bus';
import { createKafkaMessageBus } from '@tollgate/message-bus/kafka';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { readTopic as readComputedTopic } from '@tollgate/topics';
import { expect } from 'vitest';

export type TopicRecord = Omit<BusRecord, 'timestamp'>;

/** kcat is independent of our code and has another Kafka client, so it is used wherever it is installed. */
const hasKcat = spawnSync('kcat', ['-V']).status === 0;
/** Shown in the titles of tests. */
export const readerName = hasKcat ? 'kcat' : 'our own consumer, as there is no kcat';

/** All records of a topic, in order per partition. Rejects if the topic does not exist. */
const readTopic = (brokers: string, topic: string): Promise<TopicRecord[]> =>
  hasKcat ? readByKcat(brokers, topic) : readByBus(brokers, topic);

interface KcatRecord {
  partition: number;
  offset: number;
  key: string | null;
  payload: string | null;
  headers?: string[];
}

async function readByKcat(brokers: string, topic: string): Promise<TopicRecord[]> {
  const argv = ['-C', '-b', brokers, '-t', topic, '-o', 'beginning', '-e', '-q', '-J'];
  const limits = { maxBuffer: 512 * 1_048_576, timeout: 30_000 };
  const { stdout } = await promisify(execFile)('kcat', argv, limits);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { partition, offset, key, payload, headers = [] } = JSON.parse(line) as KcatRecord;
    const named = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : []));
    const value = new TextEncoder().encode(payload ?? '');
    const headersByName = Object.fromEntries(named) as Record<string, string>;
    return { topic, partition, offset: String(offset), key: key ?? '', value, headers: headersByName };
  });
}

const readByBus = (brokers: string, topic: string): Promise<TopicRecord[]> =>
  readFromBus(
    createKafkaMessageBus({ brokers: [brokers], clientId: 'e2e-reader', clock: systemClock }),
    topic,
  );

/** All records of a topic, in order per partition; closes the bus. */
export async function readFromBus(bus: KafkaMessageBus, topic: string): Promise<BusRecord[]> {
  try {
    const missing = new Map((await bus.lastPerPartition(topic)).map((last) => [last.partition, last.offset]));
    const records: BusRecord[] = [];
    if (missing.size === 0) return records;
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, AbortSignal.timeout(30_000)]);
    await bus.subscribe({ group: `e2e-${systemIds.hex(6)}`, topics: [topic], signal }, async (batch) => {
      records.push(...batch);
      for (const { partition, offset } of batch)
        if (missing.get(partition) === offset) missing.delete(partition);
      if (missing.size === 0) done.abort();
    });
    return records;
  } finally {
    await bus.close();
  }
}

/** The public topics by the streams whose events belong on them, as documented. */
const published = [
  { prefix: 'payment-', subject: 'payment', topic: gatewayPaymentsTopic, decode: decodePaymentRecord },
  { prefix: 'payout-', subject: 'payout', topic: gatewayPayoutsTopic, decode: decodePayoutRecord },
  { prefix: 'dispute-', subject: 'dispute', topic: gatewayDisputesTopic, decode: decodeDisputeRecord },
] as const;
const publicTopics = published.map(({ topic }) => topic);

/** The events of a data directory that belong on a topic. */
async function storedEvents(dataDir: string): Promise<RecordedEvent[]> {
  const store = await createEmbeddedEventStore({ file: join(dataDir, 'events.db') });
  const ending = new AbortController();
  const prefixes = published.map(({ prefix }) => prefix);
  const events: RecordedEvent[] = [];
  for await (const item of store.subscribe({ from: beginning, prefixes, signal: ending.signal })) {
    if (item.kind === 'caught-up') break;
    events.push(item);
  }
  ending.abort();
  await store.close();
  return events;
}

/** The ids of the journal entries derived from the events of a data directory. */
async function storedEntryIds(dataDir: string): Promise<string[]> {
  const store = await createEmbeddedEventStore({ file: join(dataDir, 'events.db') });
  const options = { from: 'beginning', signal: new AbortController().signal } as const;
  const records = readComputedTopic(store, gatewayJournalTopic, options);
  return Array.fromAsync(records, entryIdOf).finally(() => store.close());
}

const entryIdOf = ({ headers }: Pick<TopicRecord, 'headers'>): string => headers['ce_id'] ?? '';

/** One line for each expected record, by topic and key. */
function expectedLines(events: readonly RecordedEvent[]): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const { stream, id, type, revision, position, metadata } of events) {
    const kind = published.find(({ prefix }) => stream.startsWith(prefix));
    if (kind === undefined) throw new Error(`${stream} belongs on no topic`);
    const { recordedAt, correlationId } = metadata as { recordedAt: number; correlationId: string };
    const time = new Date(recordedAt).toISOString();
    const ceType = cloudEventType(type, kind.subject);
    const name = `${kind.topic} ${stream.slice(kind.prefix.length)}`;
    const line = [revision, type, ceType, id, time, correlationId, position].join(' ');
    lines.set(name, [...(lines.get(name) ?? []), line]);
  }
  return lines;
}

/** One line for each existing record. Duplicate information in headers and value must agree. */
function foundLines(records: readonly TopicRecord[]): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const record of records) {
    const { topic, key, headers } = record;
    const event = decodedEvent(record);
    // Records of release 0.1.0 have no leading zeros.
    const sequence = Number(headers[sequenceHeader] ?? 'none');
    const said = [headers['ce_id'], sequence, headers['ce_time'], headers['ce_subject']];
    expect(said, key).toEqual([event.id, event.sequence, event.time, key]);
    const line = [
      ...[event.sequence, event.type, headers['ce_type'], event.id, event.time, event.correlationId],
      headers[positionHeader],
    ].join(' ');
    lines.set(`${topic} ${key}`, [...(lines.get(`${topic} ${key}`) ?? []), line]);
  }
  return lines;
}

const differencesShown = 5;

/** Shows some of the differing keys: thousands would hide the cause. */
function expectSameLines(found: Map<string, string[]>, expected: Map<string, string[]>): void {
  const names = [...new Set([...found.keys(), ...expected.keys()])];
  const textOf = (lines: Map<string, string[]>, name: string) => (lines.get(name) ?? []).join('\n');
  const differing = names.filter((name) => textOf(found, name) !== textOf(expected, name));
  const some = (lines: Map<string, string[]>) =>
    differing.slice(0, differencesShown).map((name) => `${name}\n${textOf(lines, name)}`);
  expect(some(found), `${differing.length} of ${names.length} keys differ`).toEqual(some(expected));
}

function decodedEvent(record: TopicRecord) {
  const kind = published.find(({ topic }) => topic === record.topic);
  const decoded = kind?.decode(record satisfies EncodedRecord);
  if (decoded?.kind !== 'record') throw new Error(`${record.key}: ${decoded?.reason ?? 'no public topic'}`);
  return decoded.record.event;
}

export interface Comparison {
  dataDir: string;
  brokers: string;
  timeoutMs?: number;
}

/**
 * Each event is on its topic exactly once, per key in the order of its stream and in one partition, and the topic
 * contains nothing else. Waits until that is so.
 *
 * @returns the records of all public topics
 */
export async function expectPublishedOnce({
  dataDir,
  brokers,
  timeoutMs = 30_000,
}: Comparison): Promise<TopicRecord[]> {
  return eventually(
    async () => {
      const records = (await Promise.all(publicTopics.map((topic) => readTopic(brokers, topic)))).flat();
      const expected = expectedLines(await storedEvents(dataDir));
      expectSameLines(foundLines(records), expected);
      for (const ofKey of Map.groupBy(records, ({ topic, key }) => `${topic} ${key}`).values())
        expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
      const entryIds = (await readTopic(brokers, gatewayJournalTopic)).map(entryIdOf);
      expect(entryIds.toSorted()).toEqual((await storedEntryIds(dataDir)).toSorted());
      return records;
    },
    { timeoutMs, intervalMs: 500 },
  );
}
