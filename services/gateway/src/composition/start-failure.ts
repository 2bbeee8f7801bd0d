import { StartupError, TollgateError } from '@tollgate/service-kit';

/**
 * What kept a process from starting, as its operator reads it. What may be gone at the next start, such as a store without
 * a quorum, is no defect of ours: its own sentence is printed, without a stack.
 */
export function toStartupError(error: unknown): unknown {
  if (!(error instanceof TollgateError) || error instanceof StartupError || !error.retryable) return error;
  return new StartupError('not_started', `${error.message} Start again when that is over.`, { cause: error });
}
