import { errorCode, type Log } from '@tollgate/service-kit';
import type { Position } from '../event-store.ts';
import { type Wait, createConditions, pause } from '../waits.ts';

/** How soon the events of others are noticed. One check serves all subscriptions of a store. */
const headPollMs = 100;
const pauseAfterFailureMs = 500;

/** Watches the end of the log, and whether the store answers at all. */
export type HeadWatch = ReturnType<typeof createHeadWatch>;

interface HeadWatchOptions {
  readHead: () => Promise<Position>;
  log: Log;
  /** Ends the checks. */
  signal: AbortSignal;
}

export function createHeadWatch({ readHead, log, signal }: HeadWatchOptions) {
  const conditions = createConditions();
  let head: Position | undefined;
  let isReachable = true;

  function announce(position: Position): void {
    if (head !== undefined && position <= head) return;
    head = position;
    conditions.wake();
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
    /** The furthest end that was seen; undefined before the first check. */
    head: (): Position | undefined => head,
    /** An append of this process was recorded at this position. */
    announce,
    /** False once the last check has failed. */
    isReachable: (): boolean => isReachable,
    /** An end beyond `position` was seen. */
    beyond: (position: Position): Wait => conditions.until(() => head !== undefined && head > position),
  };
}
