/** Retries a start during an outage, up to a limit. */
import {
  type Clock,
  type Log,
  StartupError,
  TollgateError,
  errorCode,
  isRetryable,
} from '@tollgate/service-kit';

/** Maximum duration of retries, for example while the event store elects a leader. @unit milliseconds */
const startWithinMs = 30_000;
const pauseMs = 500;

/** @param start called again each time; it cleans up when it fails */
export async function startPatiently<Started>(
  { clock, log }: { clock: Clock; log: Log },
  start: () => Promise<Started>,
): Promise<Started> {
  const startedAt = clock.monotonic();
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      return await start();
    } catch (error) {
      if (!isRetryable(error) || clock.monotonic() - startedAt >= startWithinMs) throw toStartupError(error);
      if (tryNumber === 1)
        log.warn({ error, code: errorCode(error) ?? '' }, 'the start failed; retrying for 30 seconds');
    }
    await clock.sleep(pauseMs);
  }
}

/** An outage is not a bug: print its own message, without a stack. */
function toStartupError(error: unknown): unknown {
  if (!(error instanceof TollgateError) || error instanceof StartupError || !error.retryable) return error;
  const message = `${error.message} Resolve this, then start again.`;
  return new StartupError('not_started', message, { retryable: true, cause: error });
}

/** As sysexits.h has it: the start may work later. */
export const temporaryFailure = 75;
/** As sysexits.h has it: a defect. */
export const crashed = 70;

/** The exit code of a program that could not be started. */
export function startExitCode(error: StartupError): number {
  if (error.code === 'config_invalid') return 78;
  return error.retryable ? temporaryFailure : 1;
}
