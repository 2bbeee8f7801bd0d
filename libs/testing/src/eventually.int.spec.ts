import { expect, it } from 'vitest';
import { eventually } from './eventually.ts';

it('repeats the check until it does not throw, and returns its result', async () => {
  let checks = 0;
  const result = await eventually(
    () => {
      checks += 1;
      if (checks < 3) throw new Error('not yet');
      return 'there';
    },
    { intervalMs: 1 },
  );
  expect([result, checks]).toEqual(['there', 3]);
});

it('throws the last error when the time is over', async () => {
  let checks = 0;
  const waiting = eventually(() => Promise.reject(new Error(`check ${(checks += 1)}`)), {
    timeoutMs: 50,
    intervalMs: 1,
  });
  const error = await waiting.catch((reason: unknown) => reason);
  expect(checks).toBeGreaterThan(1);
  expect(error).toEqual(new Error(`check ${checks}`));
});

it('gives up on a check that hangs', async () => {
  const hanging = eventually(() => new Promise(() => {}), { timeoutMs: 20 });
  await expect(hanging).rejects.toThrow('The check did not come to an end within 20 ms.');
});

it('stops checking once it has abandoned', async () => {
  let checks = 0;
  const failing = () => {
    checks += 1;
    throw new Error('never');
  };
  await expect(eventually(failing, { timeoutMs: 20, intervalMs: 5 })).rejects.toThrow('never');
  const checksAtTheEnd = checks;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(checks).toBe(checksAtTheEnd);
});
