import { StoreUnavailable } from '@tollgate/event-store';
import { InvariantViolation, StartupError } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { toStartupError } from './start-failure.ts';

// A start while the event store had no quorum ended with a stack.
it('a store that does not answer is reported in its own sentence', () => {
  const unavailable = new StoreUnavailable('store_unavailable', 'EventStoreDB has not confirmed in time.');
  const reported = toStartupError(unavailable);
  expect(reported).toBeInstanceOf(StartupError);
  expect(reported).toMatchObject({
    message: 'EventStoreDB has not confirmed in time. Start again when that is over.',
    cause: unavailable,
  });
});

it('what is said already stays, and what is a defect keeps its stack', () => {
  for (const error of [
    new StartupError('port_taken', 'Taken.'),
    new InvariantViolation('no'),
    new Error('x'),
    1,
  ])
    expect(toStartupError(error)).toBe(error);
});
