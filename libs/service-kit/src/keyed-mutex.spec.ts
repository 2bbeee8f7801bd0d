import { expect, it } from 'vitest';
import { createKeyedMutex } from './keyed-mutex.ts';

it('runs the work of one key in turn, even after a failure, and that of another key at once', async () => {
  const mutex = createKeyedMutex();
  const seen: string[] = [];
  const first = Promise.withResolvers<undefined>();
  const failing = mutex.run('a', async () => {
    await first.promise;
    throw new Error('broken');
  });
  const second = mutex.run('a', async () => seen.push('second'));
  await mutex.run('b', async () => seen.push('other'));
  expect(seen).toEqual(['other']);
  first.resolve(undefined);
  await expect(failing).rejects.toThrow('broken');
  await second;
  expect(seen).toEqual(['other', 'second']);
});
