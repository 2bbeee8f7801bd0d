/** Notices commits of other processes. One check costs some microseconds. */
const foreignCommitPollMs = 15;

/**
 * Those who wait wake up at the first commit after a pause, and then at most this often, milliseconds: what follows in the
 * meantime they take in one go, because a pass over what is new costs much the same for one event and for twenty.
 */
const wakeEveryMsDefault = 10;

/** Wakes those who wait for commits, of this process and of others. */
export interface CommitWatch {
  /** Changes with every commit that was noticed. Take it before reading events, and pass it to `after`. */
  count(): number;
  /** A commit of this process has happened. */
  announce(): void;
  /** Resolves when a commit was noticed since `count` was taken, or when the signal is aborted. */
  after(count: number, signal: AbortSignal): Promise<void>;
}

/** `dataVersion` reads a number that changes with each commit to the file. It is asked only while somebody waits. */
export function createCommitWatch(
  dataVersion: () => number,
  { wakeEveryMs = wakeEveryMsDefault } = {},
): CommitWatch {
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

  // Where the file cannot be read, those who wait wake up, fail to read it as well, and say so in the log.
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
    count: () => commitCount,
    announce,
    after: (count, signal) =>
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
