import { expect, it } from 'vitest';
import { runSteps } from './turns.ts';

/** Runs so many steps, each of which does this, and tells what came after what. */
async function orderOf(count: number, each: (tell: (what: string) => void) => void): Promise<string[]> {
  const happened: string[] = [];
  let steps = 0;
  await runSteps(() => {
    if (steps === count) return false;
    steps += 1;
    happened.push(`step ${steps}`);
    each((what) => happened.push(what));
    return true;
  });
  return happened;
}

it('lets everything that has been resolved run before the next step', async () => {
  const order = await orderOf(2, (tell) => {
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => tell('resolved'));
    process.nextTick(() => tell('next tick'));
  });
  const ofEach = ['next tick', 'resolved'];
  expect(order).toEqual(['step 1', ...ofEach, 'step 2', ...ofEach]);
});

it('runs before the next step what a step has put off to the next turn', async () => {
  const order = await orderOf(2, (tell) => {
    setImmediate(() => {
      tell('put off');
      setImmediate(tell, 'put off again');
    });
    clearImmediate(setImmediate(() => tell('taken back')));
  });
  const ofEach = ['put off', 'put off again'];
  expect(order).toEqual(['step 1', ...ofEach, 'step 2', ...ofEach]);
});

it('gives immediates back to Node, also after a step that throws', async () => {
  const { setImmediate: own } = globalThis;
  const failing = runSteps(() => {
    throw new Error('no step');
  });
  await expect(failing).rejects.toThrow('no step');
  expect(setImmediate).toBe(own);
});
