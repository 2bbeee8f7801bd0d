import { StreamDeletedError } from '@eventstore/db-client';
import { expect, it } from 'vitest';
import { fromClientError, isWithoutEvents } from './store-failure.ts';

it('a stream that an administrator has deleted reads as empty, and is never appended to', () => {
  const error = new StreamDeletedError(undefined, 'payment-1');
  expect(isWithoutEvents(error)).toBe(true);
  expect(fromClientError(error)).toMatchObject({ code: 'stream_deleted', retryable: false });
});
