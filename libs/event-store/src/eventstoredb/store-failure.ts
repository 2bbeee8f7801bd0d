import { ErrorType, StreamDeletedError, StreamNotFoundError, isCommandError } from '@eventstore/db-client';
import { TollgateError } from '@tollgate/service-kit';
import { InvalidArgument, StoreUnavailable } from '../errors.ts';

/** gRPC's codes of a caller that may not do this, and that is not known; the client does not convert all of them. */
const refusals: readonly unknown[] = [7, 16];

/** The stream does not exist, or an administrator has deleted it. */
export const isWithoutEvents = (error: unknown): boolean =>
  error instanceof StreamNotFoundError || error instanceof StreamDeletedError;

/** The server has abandoned a call: the outcome of an append is unknown, or a subscription was too slow. */
export const storeTimedOut = 'store_timed_out';

/**
 * The one place that classifies errors of the client and of gRPC. Unclassified errors are transient: the outcome of an append
 * is unknown then, and it is repeated.
 */
export function fromClientError(error: unknown): TollgateError {
  if (error instanceof TollgateError) return error;
  switch (typeOf(error)) {
    case ErrorType.ACCESS_DENIED:
      return new StoreUnavailable(
        'store_forbidden',
        'The event store rejected the user name or password, or this user lacks the permission.',
        { retryable: false, cause: error },
      );
    case ErrorType.STREAM_DELETED:
      return new StoreUnavailable(
        'stream_deleted',
        'An administrator has deleted this stream in the event store, so it cannot be used again.',
        { retryable: false, cause: error },
      );
    case ErrorType.TIMEOUT:
      return new StoreUnavailable(storeTimedOut, 'The event store aborted a call.', { cause: error });
    case ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED:
      return new InvalidArgument(
        'append_too_large',
        'The event store accepts smaller appends only: leave its MaxAppendSize and MaxAppendEventSize at their defaults.',
        { cause: error },
      );
    case ErrorType.NOT_LEADER:
      return new StoreUnavailable('store_not_leader', 'The event store is electing a leader.', {
        cause: error,
      });
    default:
      return new StoreUnavailable('store_unreachable', 'The event store did not confirm the append.', {
        cause: error,
      });
  }
}

/** By its message: the client does not know this error of KurrentDB. */
const isEventTooLarge = ({ message }: Error): boolean => /maximum ?append ?event ?size/i.test(message);

function typeOf(error: unknown): ErrorType | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isEventTooLarge(error)) return ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED;
  if (isCommandError(error)) return error.type;
  return 'code' in error && refusals.includes(error.code) ? ErrorType.ACCESS_DENIED : undefined;
}
