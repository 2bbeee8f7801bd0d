import { errorCode, type Log } from '@tollgate/service-kit';
import type { Position } from '../event-store.ts';
import { pause } from './pause.ts';

/** How soon the events of others are noticed. One check serves all subscriptions of a store. */
const headPollMs = 100;
const pauseAfterFailureMs = 500;

/** Knows where the log ends, and whether the store answers at all. */
export interface HeadWatch {
  /** The furthest end that was seen; undefined before the first check. */
  head(): Position | undefined;
  /** An append of this process was recorded at this position. */
  announce(position: Position): void;
  /** Resolves when an end beyond `position` was seen, or when the signal is aborted. */
  beyond(position: Position, signal: AbortSignal): Promise<void>;
  /** False once the last check has failed. */
  isReachable(): boolean;
}

interface HeadWatchOptions {
  readHead: () => Promise<Position>;
  log: Log;
  /** Ends the checks. */
  signal: AbortSignal;
}

export function createHeadWatch({ readHead, log, signal }: HeadWatchOptions): HeadWatch {
  const sleepers = new Set<() => void>();
  let head: Position | undefined;
  let isReachable = true;

  function announce(position: Position): void {
    if (head !== undefined && position <= head) return;
    head = position;
    for (const wake of [...sleepers]) wake();
  }

  async function check(): Promise<void> {
    try {
      announce(await readHead());
      if (!isReachable) log.info({}, 'the event store answers again');
      isReachable = true;
    } catch (error) {
      if (signal.aborted) return;
      if (isReachable) log.warn({ code: errorCode(error) ?? '', error }, 'the event store does not answer');
      isReachable = false;
    }
  }

  async function keepLooking(): Promise<void> {
    while (!signal.aborted) {
      await check();
      await pause(isReachable ? headPollMs : pauseAfterFailureMs, signal);
    }
  }

  void keepLooking();

  return {
    head: () => head,
    announce,
    isReachable: () => isReachable,
    beyond: (position, ending) =>
      new Promise((resolve) => {
        const isBeyond = () => head !== undefined && head > position;
        if (ending.aborted || isBeyond()) return resolve();
        const wake = () => {
          if (!ending.aborted && !isBeyond()) return;
          sleepers.delete(wake);
          ending.removeEventListener('abort', wake);
          resolve();
        };
        ending.addEventListener('abort', wake, { once: true });
        sleepers.add(wake);
      }),
  };
}
