/** Notices commits of other processes. One check costs some microseconds. */
const foreignCommitPollMs = 15;

/**
 * Waiting readers wake at the first commit after a pause, and then at most at this interval: one pass costs much the same for
 * one new event and for twenty. @unit milliseconds
 */
const wakeEveryMsDefault = 10;

/** Wakes readers that wait for commits, of this process and of others. */
export type CommitWatch = ReturnType<typeof createCommitWatch>;

/** `dataVersion` returns a number that changes with each commit to the file. Called only while a reader waits. */
export function createCommitWatch(dataVersion: () => number, { wakeEveryMs = wakeEveryMsDefault } = {}) {
  const sleepers = new Set<() => void>();
  let commitCount = 0;
  let lastVersion: number | undefined = dataVersion();
  let timer: NodeJS.Timeout | undefined;
  let waking: NodeJS.Timeout | undefined;
  let wokenAt = -Infinity;

  function announce(): void {
    commitCount += 1;
    if (sleepers.size > 0) wakeSoon();
  }

  function wakeSoon(): void {
    const waitMs = wokenAt + wakeEveryMs - performance.now();
    if (waitMs <= 0) wakeAll();
    else waking ??= setTimeout(wakeAll, waitMs).unref();
  }

  function wakeAll(): void {
    clearTimeout(waking);
    waking = undefined;
    wokenAt = performance.now();
    for (const wake of [...sleepers]) wake();
  }

  function poll(): void {
    const version = versionOrUndefined();
    if (version !== undefined && version === lastVersion) return;
    lastVersion = version;
    announce();
  }

  // If the file cannot be read, waiting readers wake, fail to read it as well, and log it.
  function versionOrUndefined(): number | undefined {
    try {
      return dataVersion();
    } catch {
      return undefined;
    }
  }

  function sleep(wake: () => void): void {
    sleepers.add(wake);
    timer ??= setInterval(poll, foreignCommitPollMs).unref();
  }

  function rise(wake: () => void): void {
    sleepers.delete(wake);
    if (sleepers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** Changes with every noticed commit. Read it before the events, and pass it to `after`. */
    count: (): number => commitCount,
    /** A commit of this process has happened. */
    announce,
    /** Resolves when a commit was noticed since `count` was read, or when the signal is aborted. */
    after: (count: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const wake = () => {
          rise(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        signal.addEventListener('abort', wake, { once: true });
        sleep(wake);
        if (count !== commitCount) wakeSoon();
      }),
  };
}
