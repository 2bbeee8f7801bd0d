import { randomUUID } from 'node:crypto';
import { systemClock } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { givenConnection } from '../testing/kafka.ts';
import { checkTopics, ensureTopics, type TopicSpec } from './topic-specs.ts';

const tools = () => ({ ...givenConnection(), clock: systemClock });
const given = (spec: Partial<TopicSpec> = {}): TopicSpec => ({
  topic: `topic-${randomUUID()}`,
  partitions: 3,
  replication: 1,
  minInsyncReplicas: 1,
  retentionMs: 86_400_000,
  cleanup: 'delete',
  ...spec,
});

it('reports missing topics, creates them as specified, and does nothing the second time', async () => {
  const specs = [given(), given({ partitions: 1, retentionMs: 'forever', cleanup: 'compact' })];
  const missing = specs.map(({ topic }) => ({
    topic,
    setting: 'topic',
    expected: 'exists',
    actual: 'does not exist',
  }));
  expect(await checkTopics(tools(), specs)).toEqual(missing);
  for (const work of [ensureTopics, ensureTopics, checkTopics])
    expect(await work(tools(), specs)).toEqual([]);
});

// A topic with other settings was mistaken for the right one, and its records were gone after a week.
it.each([
  ['partitions', { partitions: 4 }, '4', '3'],
  ['retentionMs', { retentionMs: 'forever' }, '-1', '86400000'],
  ['cleanup', { cleanup: 'compact' }, 'compact', 'delete'],
  ['minInsyncReplicas', { minInsyncReplicas: 2 }, '2', '1'],
  ['replication', { replication: 3 }, '3', '1'],
] satisfies [string, Partial<TopicSpec>, string, string][])(
  'reports another %s, and leaves it as it is',
  async (setting, change, expected, actual) => {
    const spec = given();
    await ensureTopics(tools(), [spec]);
    const wanted = [{ ...spec, ...change }];
    const differences = [{ topic: spec.topic, setting, expected, actual }];
    expect(await ensureTopics(tools(), wanted)).toEqual(differences);
    expect(await checkTopics(tools(), wanted)).toEqual(differences);
    expect(await checkTopics(tools(), [spec])).toEqual([]);
  },
);

it('fails with one error if more copies are required than there are brokers', async () => {
  await expect(ensureTopics(tools(), [given({ replication: 99 })])).rejects.toMatchObject({
    name: 'BusUnavailable',
    code: 'topic_not_created',
    retryable: false,
  });
});

it('fails in bounded time without a broker', async () => {
  const away = { ...tools(), brokers: ['127.0.0.1:1'], deadlineMs: 1_000 };
  await expect(checkTopics(away, [given()])).rejects.toMatchObject({
    code: 'bus_unavailable',
    retryable: true,
  });
});
