import { type EventStore, beginning } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { gatewayTopics } from '@tollgate/gateway-api';
import type { TopicDifference, TopicSpec } from '@tollgate/message-bus';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import type { TopicAdmin } from './tools.ts';
import { runWith, toolsWith } from './testing/run-with.ts';

/** Runs a command line on a Kafka with these differences, or without Kafka. */
async function run(command: string, differences?: TopicDifference[], given?: EventStore) {
  const calls: { operation: keyof TopicAdmin; specs: readonly TopicSpec[] }[] = [];
  const answer = (operation: keyof TopicAdmin) => async (specs: readonly TopicSpec[]) => {
    calls.push({ operation, specs });
    return differences ?? [];
  };
  const topicAdmin = { ensureTopics: answer('ensureTopics'), checkTopics: answer('checkTopics') };
  const store = given ?? (await temporaryStore());
  const admin = differences === undefined ? {} : { topicAdmin };
  const tools = toolsWith({ store, clock: systemClock, ...admin });
  const ran = await runWith(tools, command);
  const audit = async () => Array.fromAsync(store.read('security-log'), ({ data }) => data);
  return { ...ran, calls, audit };
}

const missing: TopicDifference = {
  topic: 'gateway.payments.v1',
  setting: 'topic',
  expected: 'exists',
  actual: 'does not exist',
};
const fewer: TopicDifference = {
  topic: 'gateway.payouts.v1',
  setting: 'partitions',
  expected: '12',
  actual: '3',
};

describe.each([
  ['topics create', 'ensureTopics'],
  ['topics check', 'checkTopics'],
] as const)('%s', (command, operation) => {
  it('covers every topic, with three replicas of which one may be unavailable', async () => {
    const { exitCode, out, calls } = await run(command, []);
    expect([exitCode, calls.map((call) => call.operation)]).toEqual([0, [operation]]);
    expect(calls[0]?.specs).toEqual(
      gatewayTopics.map((topic) => ({ ...topic, replication: 3, minInsyncReplicas: 2 })),
    );
    expect(out).toMatch(/^gateway\.payments\.v1 +partitions 12, copies 3, kept without limit\n/);
    expect(out).toMatch(/provider\.callbacks\.v1 +partitions 12, copies 3, kept for 7 days\n/);
  });

  it.each([
    [1, 1],
    [2, 1],
    [5, 4],
  ])('takes %i copies, of which %i must be there', async (replication, minInsyncReplicas) => {
    const { calls } = await run(`${command} --replication ${replication}`, []);
    for (const spec of calls[0]?.specs ?? []) expect(spec).toMatchObject({ replication, minInsyncReplicas });
    expect(calls).toHaveLength(1);
  });

  it('exits with 1 and names the differences', async () => {
    const { calls: _, audit: _audit, ...result } = await run(command, [missing, fewer]);
    expect(result).toEqual({
      exitCode: 1,
      out: '',
      error:
        'Not as it has to be: gateway.payments.v1 does not exist; gateway.payouts.v1 has partitions 3 and not 12.\n',
    });
  });

  it('does nothing without Kafka, and reports that', async () => {
    const { exitCode, out, error } = await run(command);
    expect([exitCode, error]).toEqual([0, '']);
    expect(out).toContain('Nothing is needed');
    expect(JSON.parse((await run(`${command} --json`)).out)).toEqual({ needed: false, topics: [] });
  });

  it('prints JSON on request', async () => {
    const printed = JSON.parse((await run(`${command} --json`, [])).out);
    expect(printed).toMatchObject({ needed: true, topics: gatewayTopics });
  });
});

it('topics create is recorded in the security log before anything is created, topics check is not', async () => {
  const created = await run('topics create --replication 2', []);
  expect(await created.audit()).toEqual([{ command: 'topics create', detail: { replication: 2 } }]);
  expect(await (await run('topics check', [])).audit()).toEqual([]);
});

describe('topics republish', () => {
  const checkpoint = { address: 'kafka', position: '5', failedStreams: [] };
  const moved = { id: systemIds.uuid(), type: 'CheckpointMoved', data: checkpoint, metadata: {} };
  const stream = 'checkpoint-event-publisher';

  it('has the publisher begin again, and is in the security log', async () => {
    const store = await temporaryStore();
    await store.append(stream, [moved], 'no-stream');
    const { exitCode, audit } = await run('topics republish', [], store);
    expect(exitCode).toBe(0);
    const [last] = await Array.fromAsync(store.read(stream, { direction: 'backwards', limit: 1 }));
    expect(last?.data).toEqual({ ...checkpoint, position: beginning });
    expect(await audit()).toMatchObject([{ command: 'topics republish', detail: {} }]);
  });

  it('is refused if nothing was published, and does nothing without Kafka', async () => {
    expect(await run('topics republish', [])).toMatchObject({
      exitCode: 1,
      error: 'Nothing was published.\n',
    });
    expect((await run('topics republish')).out).toContain('Nothing is needed');
  });
});
