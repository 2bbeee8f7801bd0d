import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { forgottenAfter } from './forgotten.ts';

it('removes the listeners of a combined signal that nobody will abort', async () => {
  const { any } = AbortSignal;
  const own = new AbortController().signal;
  const combined = await forgottenAfter(async () => {
    const signal = AbortSignal.any([own, new AbortController().signal]);
    signal.addEventListener('abort', () => undefined);
    return signal;
  });
  expect(getEventListeners(combined, 'abort')).toEqual([]);
  expect(AbortSignal.any).toBe(any);
});
