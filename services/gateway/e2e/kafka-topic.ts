/** Compares a broker's topics with those computed from the event store. */
import {
  gatewayDisputesTopic,
  gatewayJournalTopic,
  gatewayPaymentsTopic,
  gatewayPayoutsTopic,
} from '@tollgate/gateway-api';
import type { BusRecord } from '@tollgate/message-bus';
import { eventually } from '@tollgate/testing';
import { expect } from 'vitest';
import { recordsOn, storeOf } from './topic.ts';

const publicTopics = [gatewayPaymentsTopic, gatewayPayoutsTopic, gatewayDisputesTopic, gatewayJournalTopic];

/** The records of all public topics, on Kafka or computed. */
async function publicRecords(env: Record<string, string>, dataDir: string): Promise<BusRecord[]> {
  const store = await storeOf({ env: {}, dataDir });
  const reading = publicTopics.map((topic) => recordsOn({ env }, store, topic));
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
      const records = await publicRecords({ KAFKA_BROKERS: brokers }, dataDir);
      expectSameLines(linesOf(records), linesOf(await publicRecords({}, dataDir)));
      for (const ofKey of Map.groupBy(records, ({ topic, key }) => `${topic} ${key}`).values())
        expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
      return records;
    },
    { timeoutMs, intervalMs: 500 },
  );
}
