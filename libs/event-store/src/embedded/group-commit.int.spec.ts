import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { givenEvent } from '../testing/given-events.ts';
import { temporaryFile } from '../testing/temporary-store.ts';
import { serializeAppend } from '../append-arguments.ts';
import { batchBytesMax, batchOperationsMax, createBacklog, waitingOperationsMax } from './group-commit.ts';
import { joinGroupCommit, startGroupCommit } from './group-commit.ts';

const operation = {
  kind: 'append',
  stream: 'payment-1',
  events: serializeAppend('payment-1', [givenEvent()]).events,
  expected: 'any',
  recordedAt: 0,
} as const;

async function givenGroupCommit() {
  let commitCount = 0;
  const writer = await startGroupCommit({
    file: await temporaryFile(),
    onCommit: () => (commitCount += 1),
  });
  onTestFinished(() => writer.close());
  return { writer, commitCount: () => commitCount };
}

describe('operations that are submitted together', () => {
  it('share a commit, which wakes the followers of the store', async () => {
    const { writer, commitCount } = await givenGroupCommit();
    await Promise.all(Array.from({ length: 100 }, () => writer.submit(operation, 10)));
    expect(commitCount()).toBe(1);
    await writer.submit(operation, 10);
    expect(commitCount()).toBe(2);
  });

  it('share the next commit when one is under way', async () => {
    const { writer, commitCount } = await givenGroupCommit();
    const first = writer.submit(operation, 10);
    // Two turns: of the first one's immediates, one sends it on its way.
    await nextTurn();
    await nextTurn();
    await Promise.all([first, ...Array.from({ length: 100 }, () => writer.submit(operation, 10))]);
    expect(commitCount()).toBe(2);
  });

  it('are each answered with their own result, in order of arrival', async () => {
    const { writer } = await givenGroupCommit();
    const answers = await Promise.all(Array.from({ length: 5 }, () => writer.submit(operation, 10)));
    expect(answers).toMatchObject([0, 1, 2, 3, 4].map((revision) => ({ kind: 'appended', revision })));
  });
});

describe('one that another thread has joined', () => {
  async function givenTwo() {
    const { writer, commitCount } = await givenGroupCommit();
    const joined = { commits: 0, stopped: 0 };
    const second = joinGroupCommit(writer.connection(), {
      onCommit: () => (joined.commits += 1),
      onWriterStopped: () => (joined.stopped += 1),
    });
    onTestFinished(() => second.close());
    return { first: writer, second, commitCount, joined };
  }

  it('commits for both, each with its own results', async () => {
    const { first, second, commitCount, joined } = await givenTwo();
    const [one, other] = await Promise.all([first.submit(operation, 10), second.submit(operation, 10)]);
    expect([one, other].map((result) => 'revision' in result && result.revision).sort()).toEqual([0, 1]);
    // Each is notified once of a shared commit; with separate commits, each is also notified of the other's.
    await expect.poll(() => commitCount() - joined.commits).toBe(0);
    expect(commitCount()).toBeGreaterThan(0);
  });

  it('is notified of the commits of the other one', async () => {
    const { first, second, commitCount, joined } = await givenTwo();
    await first.submit(operation, 10);
    await expect.poll(() => joined.commits).toBe(1);
    await second.submit(operation, 10);
    await expect.poll(commitCount).toBe(2);
  });

  it('continues when the other one has gone, and not without the one that started the writer', async () => {
    const { first, second, joined } = await givenTwo();
    const another = joinGroupCommit(first.connection(), { onCommit: () => undefined });
    await another.submit(operation, 10);
    await another.close();
    await expect(another.submit(operation, 10)).rejects.toMatchObject({ code: 'store_closed' });
    expect(await second.submit(operation, 10)).toMatchObject({ revision: 1 });
    await first.close();
    await expect.poll(() => joined.stopped).toBe(1);
    await expect(second.submit(operation, 10)).rejects.toMatchObject({ code: 'store_writer_stopped' });
  });
});

describe('the backlog', () => {
  const waiting = (bytes: number) => ({ operation, bytes, resolve: () => {}, reject: () => {} });

  it('passes at most its limit of operations to one commit, and loses none', () => {
    const backlog = createBacklog();
    for (let count = 0; count < batchOperationsMax + 3; count += 1) backlog.push(waiting(1));
    expect(backlog.takeBatch()).toHaveLength(batchOperationsMax);
    expect(backlog.takeBatch()).toHaveLength(3);
    expect(backlog.takeBatch()).toHaveLength(0);
  });

  it('passes at most its limit of bytes to one commit, but at least one operation', () => {
    const backlog = createBacklog();
    for (const bytes of [batchBytesMax + 1, batchBytesMax / 2, batchBytesMax / 2, 1])
      backlog.push(waiting(bytes));
    expect(
      [backlog.takeBatch(), backlog.takeBatch(), backlog.takeBatch()].map((batch) => batch.length),
    ).toEqual([1, 2, 1]);
  });

  it('refuses operations that would only use memory, until there is room again', () => {
    const backlog = createBacklog();
    for (let count = 0; count < waitingOperationsMax; count += 1) backlog.push(waiting(0));
    expect(() => backlog.push(waiting(0))).toThrow(
      expect.objectContaining({ code: 'store_overloaded', retryable: true }),
    );
    backlog.takeBatch();
    expect(() => backlog.push(waiting(0))).not.toThrow();
  });
});
