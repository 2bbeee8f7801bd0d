import { StartupError } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { indexWaitMs, startIndex } from './start-index.ts';

it('waits for a small index', async () => {
  let isWhole = false;
  const start = async () => {
    await Promise.resolve();
    isWhole = true;
  };
  await startIndex({ start }, createFakeClock());
  expect(isWhole).toBe(true);
});

it('does not wait for a large one, whose rebuild continues', async () => {
  const clock = createFakeClock();
  const building = Promise.withResolvers<undefined>();
  const started = startIndex({ start: () => building.promise }, clock);
  let isStarted = false;
  void started.then(() => (isStarted = true));
  await clock.advance(indexWaitMs - 1);
  expect(isStarted).toBe(false);
  await clock.advance(1);
  await started;
  building.resolve(undefined);
});

it('ends the start where the file cannot be used', async () => {
  const refused = new StartupError('index_not_openable', 'No.');
  const start = () => Promise.reject(refused);
  await expect(startIndex({ start }, createFakeClock())).rejects.toBe(refused);
});
