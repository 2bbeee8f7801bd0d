import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { givenEvent } from '../testing/given-events.ts';
import { temporaryFile } from '../testing/temporary-store.ts';
import { serializeAppend } from '../append-arguments.ts';
import { batchBytesMax, batchOperationsMax, createBacklog, waitingOperationsMax } from './backlog.ts';
import { startGroupCommit } from './group-commit.ts';

const operation = {
  kind: 'append',
  stream: 'payment-1',
  events: serializeAppend('payment-1', [givenEvent()], 'any').events,
  expected: 'any',
  recordedAt: 0,
} as const;

async function givenGroupCommit(pageCountMax?: number) {
  let commitCount = 0;
  const writer = await startGroupCommit({
    file: await temporaryFile(),
    pageCountMax,
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

  it('are answered each with its own result, in the order in which they came', async () => {
    const { writer } = await givenGroupCommit();
    const answers = await Promise.all(Array.from({ length: 5 }, () => writer.submit(operation, 10)));
    expect(answers).toMatchObject([0, 1, 2, 3, 4].map((revision) => ({ kind: 'appended', revision })));
  });
});

describe('the backlog', () => {
  const waiting = (bytes: number) => ({ operation, bytes, resolve: () => {}, reject: () => {} });

  it('gives no more operations to one commit than its limit, and none is forgotten', () => {
    const backlog = createBacklog();
    for (let count = 0; count < batchOperationsMax + 3; count += 1) backlog.push(waiting(1));
    expect(backlog.takeBatch()).toHaveLength(batchOperationsMax);
    expect(backlog.takeBatch()).toHaveLength(3);
    expect(backlog.takeBatch()).toHaveLength(0);
  });

  it('gives no more bytes to one commit than its limit, but one operation at least', () => {
    const backlog = createBacklog();
    for (const bytes of [batchBytesMax + 1, batchBytesMax / 2, batchBytesMax / 2, 1])
      backlog.push(waiting(bytes));
    expect(
      [backlog.takeBatch(), backlog.takeBatch(), backlog.takeBatch()].map((batch) => batch.length),
    ).toEqual([1, 2, 1]);
  });

  it('refuses what would only eat memory, until there is room again', () => {
    const backlog = createBacklog();
    for (let count = 0; count < waitingOperationsMax; count += 1) backlog.push(waiting(0));
    expect(() => backlog.push(waiting(0))).toThrow(
      expect.objectContaining({ code: 'store_overloaded', retryable: true }),
    );
    backlog.takeBatch();
    expect(() => backlog.push(waiting(0))).not.toThrow();
  });
});
