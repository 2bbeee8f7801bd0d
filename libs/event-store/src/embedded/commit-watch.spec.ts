import { describe, expect, it } from 'vitest';
import { createCommitWatch } from './commit-watch.ts';

const waiting = { timeout: 10_000, interval: 1 };

/** A file whose version the test changes, and which counts its reads. */
function givenFile(options?: { wakeEveryMs: number }) {
  const file = { version: 1, isBroken: false, askedCount: 0 };
  const dataVersion = () => {
    file.askedCount += 1;
    if (file.isBroken) throw new Error('The file cannot be read in this test.');
    return file.version;
  };
  return { file, commits: createCommitWatch(dataVersion, options) };
}

/** Waits in the background; returns whether it is over. */
function waitAfter(commits: ReturnType<typeof createCommitWatch>, count = commits.count()) {
  const controller = new AbortController();
  let isOver = false;
  void commits.after(count, controller.signal).then(() => (isOver = true));
  return { isOver: () => isOver, abort: () => controller.abort() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('waiting for a commit', () => {
  it('ends at once for every waiter when this process commits', async () => {
    const { commits } = givenFile();
    const waiters = [waitAfter(commits), waitAfter(commits)];
    await turn();
    expect(waiters.map((each) => each.isOver())).toEqual([false, false]);
    commits.announce();
    await turn();
    expect(waiters.map((each) => each.isOver())).toEqual([true, true]);
  });

  it('does not begin if there was a commit since the last check', async () => {
    const { commits } = givenFile();
    const count = commits.count();
    commits.announce();
    const waiter = waitAfter(commits, count);
    await turn();
    expect(waiter.isOver()).toBe(true);
  });

  it('does not end again so soon after it has ended for others', async () => {
    const { commits } = givenFile({ wakeEveryMs: 60_000 });
    const first = waitAfter(commits);
    commits.announce();
    await turn();
    expect(first.isOver()).toBe(true);
    const second = waitAfter(commits);
    commits.announce();
    await turn();
    expect(second.isOver()).toBe(false);
    second.abort();
  });

  it('ends for a commit meanwhile when the time is over', async () => {
    const { commits } = givenFile({ wakeEveryMs: 1 });
    commits.announce();
    const second = waitAfter(commits);
    commits.announce();
    await expect.poll(() => second.isOver(), waiting).toBe(true);
  });

  it('ends when another process commits', async () => {
    const { commits, file } = givenFile();
    const waiter = waitAfter(commits);
    file.version += 1;
    await expect.poll(() => waiter.isOver(), waiting).toBe(true);
  });

  it('ends when the signal is aborted', async () => {
    const { commits } = givenFile();
    const waiter = waitAfter(commits);
    waiter.abort();
    await turn();
    expect(waiter.isOver()).toBe(true);
  });

  it('ends when the file cannot be read, so that the waiter finds out why', async () => {
    const { commits, file } = givenFile();
    const waiter = waitAfter(commits);
    file.isBroken = true;
    await expect.poll(() => waiter.isOver(), waiting).toBe(true);
  });

  it('reads the file only while a reader waits', async () => {
    const { commits, file } = givenFile();
    const waiters = [waitAfter(commits), waitAfter(commits)];
    await expect.poll(() => file.askedCount, waiting).toBeGreaterThan(2);
    waiters[0]?.abort();
    const askedCount = file.askedCount;
    await expect.poll(() => file.askedCount, waiting).toBeGreaterThan(askedCount);
    waiters[1]?.abort();
    const lastCount = file.askedCount;
    // Another polling watch shows that there was time for another read.
    const other = givenFile();
    waitAfter(other.commits);
    await expect.poll(() => other.file.askedCount, waiting).toBeGreaterThan(3);
    expect(file.askedCount).toBe(lastCount);
  });
});
