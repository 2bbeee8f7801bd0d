import { errorCode, type Clock, type Ids, type Log } from '@tollgate/service-kit';

export interface FollowerOptions {
  clock: Clock;
  /** Spreads the pauses of several followers; none by default. */
  ids?: Pick<Ids, 'fraction'>;
  log: Log;
  /** Written to the log with each failure. */
  name: string;
  /** Longest pause between two passes, milliseconds; 30,000 by default. The first one is 200, each next twice as long. */
  longestPauseMs?: number;
}

interface FollowerHealth {
  /** False while a dependency is unavailable, or too many streams have failed. */
  isAdvancing: boolean;
  /** Error code that ended the last pass, if none has made progress since. */
  failure: string | undefined;
}

const firstPauseMs = 200;

/**
 * Follows the store through failures: a pass begins at the checkpoint and ends when the signal is aborted or something
 * fails; after a failure there is a pause, longer each time until a pass has got on.
 *
 * @param pass calls `gotOn` with each step that it has completed
 */
export function createFollower(
  { clock, ids, log, name, longestPauseMs = 30_000 }: FollowerOptions,
  pass: (signal: AbortSignal, gotOn: () => void) => Promise<void>,
) {
  let health: FollowerHealth = { isAdvancing: false, failure: undefined };
  let pauseMs = firstPauseMs;

  function gotOn(): void {
    health = { isAdvancing: true, failure: undefined };
    pauseMs = firstPauseMs;
  }

  async function pauseAfter(error: unknown, signal: AbortSignal): Promise<void> {
    const code = errorCode(error) ?? 'following_failed';
    // A failure that lasts is logged as an error once.
    const level = health.failure === code ? 'debug' : 'error';
    health = { isAdvancing: false, failure: code };
    const waitMs = Math.round(pauseMs * (0.5 + (ids?.fraction() ?? 1) / 2));
    log[level]({ error, waitMs, code, operation: name }, 'following the events failed; it resumes');
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    await clock.sleep(waitMs, signal).catch(() => undefined);
  }

  return {
    /** Runs pass after pass until the signal is aborted; may be called again then. Never rejects. */
    run: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        try {
          await pass(signal, gotOn);
        } catch (error) {
          if (!signal.aborted) await pauseAfter(error, signal);
        }
      }
      health = { ...health, isAdvancing: false };
    },
    health: (): FollowerHealth => health,
  };
}
