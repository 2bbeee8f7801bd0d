import { expect, it } from 'vitest';
import { createUnderWay } from './under-way.ts';

it('refuses what is too much, as something that may be repeated', async () => {
  const underWay = createUnderWay(2);
  const first = Promise.withResolvers<string>();
  const running = [underWay.run(async () => first.promise), underWay.run(async () => first.promise)];
  await expect(underWay.run(async () => 'third')).rejects.toMatchObject({
    ...{ code: 'store_overloaded', retryable: true },
  });
  first.resolve('done');
  expect(await Promise.all(running)).toEqual(['done', 'done']);
  expect(await underWay.run(async () => 'fourth')).toBe('fourth');
});

it('has settled when all have ended, in whatever way', async () => {
  const underWay = createUnderWay();
  const first = Promise.withResolvers<never>();
  const running = underWay.run(() => first.promise);
  running.catch(() => undefined);
  let isSettled = false;
  const settled = underWay.settled().then(() => (isSettled = true));
  await Promise.resolve();
  expect(isSettled).toBe(false);
  first.reject(new Error('failed'));
  await settled;
  await expect(running).rejects.toThrow('failed');
});
