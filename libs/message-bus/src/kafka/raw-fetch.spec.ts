import type { Cluster } from 'kafkajs';
import { expect, it } from 'vitest';
import { readLastRecords } from './raw-fetch.ts';

/**
 * A broker whose client is above its quota (bytes fetched, or share of request time) answers a fetch at once, without any
 * partition and with a throttle time (KIP-219; `KafkaApis.handleFetchRequest` → `getThrottledResponse`). kafkajs returns that
 * as `{ throttleTime: 0, clientSideThrottleTime, errorCode: 0, responses: [] }`.
 */
function clusterWith(records: readonly string[], throttled: number): Cluster {
  let left = throttled;
  const fetch = async ({ topics }: { topics: { partitions: { fetchOffset: string }[] }[] }) => {
    if ((left -= 1) >= 0)
      return { throttleTime: 0, clientSideThrottleTime: 500, errorCode: 0, sessionId: 0, responses: [] };
    const from = Number(topics[0]?.partitions[0]?.fetchOffset);
    const messages = records.map((value, offset) => ({
      offset: String(offset),
      timestamp: '1700000000000',
      headers: {},
      key: Buffer.from('pay_1'),
      value: Buffer.from(value),
    }));
    // As much as fits into the requested 2 MiB.
    let bytes = 0;
    const given = messages.slice(from).filter(({ value }) => (bytes += value.byteLength) <= 2 * 1_048_576);
    return {
      throttleTime: 0,
      errorCode: 0,
      responses: [{ topicName: 't', partitions: [{ messages: given }] }],
    };
  };
  return {
    addTargetTopic: async () => undefined,
    refreshMetadata: async () => undefined,
    findLeaderForPartitions: () => ({ 1: [0] }),
    findBroker: async () => ({ fetch }),
    fetchTopicsOffset: async ([{ fromBeginning }]: [{ fromBeginning: boolean }]) => [
      { topic: 't', partitions: [{ partition: 0, offset: fromBeginning ? '0' : String(records.length) }] },
    ],
  } as unknown as Cluster;
}

/** A payment with several hundred refunds makes each of its records up to 600,000 bytes large. */
const records = Array.from({ length: 20 }, (_, place) => `event ${place}`.padEnd(250_000));
const lastOf = async (cluster: Cluster) =>
  (await readLastRecords(cluster, 't', [0])).map(({ value }) => Buffer.from(value).toString().trimEnd());

// The record before the last passed for the last one: a publisher that took over would have written the last one again.
it.each([0, 1, 2])(
  'finds the last record of a partition though the broker throttles its first fetches (%s)',
  async (throttled) => {
    expect(await lastOf(clusterWith(records, throttled))).toEqual(['event 19']);
  },
);

it('fails with a retryable error if the broker keeps throttling', async () => {
  await expect(lastOf(clusterWith(records, Infinity))).rejects.toMatchObject({
    code: 'bus_unavailable',
    retryable: true,
  });
});
