/** Reads a broker's topics from outside, and compares them with those computed from the event store. */
import { join } from 'node:path';
import { createEmbeddedEventStore } from '@tollgate/event-store';
import {
  gatewayDisputesTopic,
  gatewayJournalTopic,
  gatewayPaymentsTopic,
  gatewayPayoutsTopic,
} from '@tollgate/gateway-api';
import type { BusRecord, KafkaMessageBus } from '@tollgate/message-bus';
import { createKafkaMessageBus } from '@tollgate/message-bus/kafka';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { readTopic as readComputedTopic } from '@tollgate/topics';
import { expect } from 'vitest';

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

const publicTopics = [gatewayPaymentsTopic, gatewayPayoutsTopic, gatewayDisputesTopic, gatewayJournalTopic];

const publishedRecords = async (brokers: string): Promise<BusRecord[]> => {
  const clientId = 'e2e-reader';
  const newBus = () => createKafkaMessageBus({ brokers: [brokers], clientId, clock: systemClock });
  return (await Promise.all(publicTopics.map((topic) => readFromBus(newBus(), topic)))).flat();
};

async function computedRecords(dataDir: string): Promise<BusRecord[]> {
  const store = await createEmbeddedEventStore({ file: join(dataDir, 'events.db') });
  const options = { from: 'beginning', signal: new AbortController().signal } as const;
  const reading = publicTopics.map((topic) => Array.fromAsync(readComputedTopic(store, topic, options)));
  return (await Promise.all(reading).finally(() => store.close())).flat();
}

/** The records as text, by topic and key. A key of the journal has entries of several streams, in no common order. */
function linesOf(records: readonly BusRecord[]): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const { topic, key, value, headers } of records) {
    const sorted = Object.entries(headers).toSorted();
    const line = JSON.stringify([sorted, new TextDecoder().decode(value)]);
    lines.set(`${topic} ${key}`, [...(lines.get(`${topic} ${key}`) ?? []), line]);
  }
  for (const [name, of] of lines) if (name.startsWith(gatewayJournalTopic)) of.sort();
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

export interface Comparison {
  dataDir: string;
  brokers: string;
  timeoutMs?: number;
}

/**
 * Each computed record is on its topic exactly once, per key in order and in one partition, and the topic contains
 * nothing else. Waits until that is so.
 *
 * @returns the records of all public topics
 */
export async function expectPublishedOnce({
  dataDir,
  brokers,
  timeoutMs = 30_000,
}: Comparison): Promise<BusRecord[]> {
  return eventually(
    async () => {
      const records = await publishedRecords(brokers);
      expectSameLines(linesOf(records), linesOf(await computedRecords(dataDir)));
      for (const ofKey of Map.groupBy(records, ({ topic, key }) => `${topic} ${key}`).values())
        expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
      return records;
    },
    { timeoutMs, intervalMs: 500 },
  );
}
