import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

it('work of one name begins when that before it has ended, also by a failure; that of another name at once', async () => {
  const turns = createTurns();
  const seen: string[] = [];
  const first = Promise.withResolvers<undefined>();
  const failing = turns.take('a', async () => {
    await first.promise;
    throw new Error('broken');
  });
  const second = turns.take('a', async () => seen.push('second'));
  await turns.take('b', async () => seen.push('other'));
  expect(seen).toEqual(['other']);
  first.resolve(undefined);
  await expect(failing).rejects.toThrow('broken');
  await second;
  expect(seen).toEqual(['other', 'second']);
});
