/**
 * A failure of the infrastructure or of the start. Its message is our own, contains no secret and no caller's data, and may be
 * logged and printed.
 */
export class TollgateError extends Error {
  readonly code: string;
  /** True if the same call may succeed later by itself. */
  readonly retryable: boolean;

  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** The process cannot start; the message is one sentence with what to do. */
export class StartupError extends TollgateError {}

/** Something that the code rules out has happened. Stops the stream or the process it happened in, loudly. */
export class InvariantViolation extends TollgateError {
  constructor(message: string) {
    super('invariant_violation', message);
  }
}

/** True if the same call may succeed later by itself. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof Error && 'retryable' in error && error.retryable === true;

/** The `code` that Node, SQLite and our own errors carry, or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
