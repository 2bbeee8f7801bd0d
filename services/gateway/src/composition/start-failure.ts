import { StartupError, TollgateError } from '@tollgate/service-kit';

/**
 * What kept a process from starting, for whoever started it. What may be gone at the next start, a store without a quorum
 * say, is no defect of ours that a stack would tell of: its own sentence does.
 */
export function toStartupError(error: unknown): unknown {
  if (!(error instanceof TollgateError) || error instanceof StartupError || !error.retryable) return error;
  return new StartupError('not_started', `${error.message} Start again when that is over.`, { cause: error });
}
