import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorCode, type Log } from '@tollgate/service-kit';
import type { CaughtUp, RecordedEvent, SubscribeOptions } from '../event-store.ts';
import { pause } from '../waits.ts';
import type { CommitWatch } from './commit-watch.ts';
import { fromPosition, toPosition } from './event-rows.ts';
import type { Reader, Window } from './reader.ts';

const pauseAfterFailureMs = 250;

interface Parts {
  reader: Reader;
  commits: CommitWatch;
  log: Log;
}

/** See `EventStore.subscribe`: reads the file, so that it misses nothing that another process records. */
export async function* subscription(
  { reader, commits, log }: Parts,
  { from, prefixes, signal }: SubscribeOptions,
): AsyncGenerator<RecordedEvent | CaughtUp, void, void> {
  // A function, because the compiler assumes that a signal does not change during an await.
  const isAborted = () => signal.aborted;
  if (isAborted()) return;
  const scan = reader.scanner(prefixes);
  let scannedTo = fromPosition(from);
  let isEndReported = false;
  while (!isAborted()) {
    const asOf = commits.count();
    const window = await scanUntilItWorks(() => scan(scannedTo), { log, signal });
    if (window === undefined) return;
    isEndReported &&= window.scannedTo === scannedTo;
    scannedTo = window.scannedTo;
    for (const event of window.events) {
      if (isAborted()) return;
      yield event;
    }
    if (!window.isEnd) {
      await nextTurn();
      continue;
    }
    if (!isEndReported && !isAborted()) yield { kind: 'caught-up', position: toPosition(scannedTo) };
    isEndReported = true;
    await commits.after(asOf, signal);
  }
}

/** Undefined if the signal is aborted first. */
async function scanUntilItWorks(
  scan: () => Window,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<Window | undefined> {
  while (!signal.aborted) {
    try {
      return scan();
    } catch (error) {
      log.warn(
        { code: errorCode(error) ?? '', error },
        'reading the event store failed, a subscription tries again',
      );
      await pause(pauseAfterFailureMs, signal);
    }
  }
  return undefined;
}
