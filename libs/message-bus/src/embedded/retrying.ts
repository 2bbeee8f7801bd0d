import { errorCode, isRetryable, type Clock, type Log, type LogFields } from '@tollgate/service-kit';

const firstPauseMs = 100;
const pauseMsMax = 30_000;

export interface RetryOptions {
  clock: Clock;
  log: Log;
  /** Ends the tries; one is always made. */
  signal: AbortSignal;
  /** What is tried, for the log. */
  fields: LogFields;
  mayTryAgain?: (error: unknown) => boolean;
}

/**
 * Tries until it works, with pauses from 0.1 up to 30 seconds. Gives undefined when the signal was aborted first.
 *
 * @throws what is not retryable
 */
export async function untilItWorks<Result>(
  { clock, log, signal, fields, mayTryAgain = isRetryable }: RetryOptions,
  attempt: () => Promise<Result>,
): Promise<{ result: Result } | undefined> {
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    try {
      return { result: await attempt() };
    } catch (error) {
      if (!mayTryAgain(error)) throw error;
      const waitMs = Math.min(pauseMsMax, firstPauseMs * 2 ** (attemptNumber - 1));
      log.warn(
        { ...fields, attemptNumber, waitMs, code: errorCode(error) ?? '', error },
        'trying again after a pause',
      );
      await clock.sleep(waitMs, signal).catch((interruption: unknown) => {
        if (!signal.aborted) throw interruption;
      });
      if (signal.aborted) return undefined;
    }
  }
}
