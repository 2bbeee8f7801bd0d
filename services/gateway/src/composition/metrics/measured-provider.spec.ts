import type { Provider } from '@tollgate/core';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { measureProvider } from './measured-provider.ts';

const account = { environment: 'sandbox', name: 'main' };

function measured(given: Partial<Record<keyof Provider, (...values: unknown[]) => Promise<unknown>>>) {
  const seen: [object, number][] = [];
  const clock = createFakeClock();
  const metrics = {
    providerCall: (labels: object, durationMs: number) => void seen.push([labels, durationMs]),
  };
  const all = given as unknown as Provider;
  return { provider: measureProvider(all, account, { clock, metrics }), clock, seen };
}

const labelsOf = (operation: string, outcome: string) => ({
  environment: 'sandbox',
  account: 'main',
  operation,
  outcome,
});

it('forwards calls and answers, and measures until the answer', async () => {
  const asked: unknown[] = [];
  const outcome = { kind: 'refused', errors: [] };
  const answer = Promise.withResolvers<unknown>();
  const { provider, clock, seen } = measured({
    inquirePayment: (...values) => {
      asked.push(values);
      return answer.promise;
    },
  });
  const call = provider.inquirePayment('abc');
  await clock.advance(250);
  expect(seen).toEqual([]);
  answer.resolve(outcome);
  expect(await call).toBe(outcome);
  expect(asked).toEqual([['abc']]);
  expect(seen).toEqual([[labelsOf('inquire_payment', 'refused'), 250]]);
});

it('counts a call that throws, and throws', async () => {
  const { provider, seen } = measured({ listDisputes: () => Promise.reject(new Error('a bug')) });
  await expect(provider.listDisputes()).rejects.toThrow('a bug');
  expect(seen).toEqual([[labelsOf('list_disputes', 'thrown'), 0]]);
});
