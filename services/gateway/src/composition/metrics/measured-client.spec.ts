import type { PaymentServiceClient } from '@tollgate/payment-api';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { measureClient } from './measured-client.ts';

const account = { environment: 'sandbox', name: 'main' };

function measured(
  client: Partial<Record<keyof PaymentServiceClient, (...values: unknown[]) => Promise<unknown>>>,
) {
  const seen: [object, number][] = [];
  const clock = createFakeClock();
  const metrics = {
    providerCall: (labels: object, durationMs: number) => void seen.push([labels, durationMs]),
  };
  const all = client as unknown as PaymentServiceClient;
  return { client: measureClient(all, account, { clock, metrics }), clock, seen };
}

const labelsOf = (operation: string, outcome: string) => ({
  ...{ environment: 'sandbox', account: 'main', operation, outcome },
});

it('hands on what was asked and answered, and measures until the answer', async () => {
  const asked: unknown[] = [];
  const outcome = { kind: 'refused', errors: [] };
  const answer = Promise.withResolvers<unknown>();
  const { client, clock, seen } = measured({
    retrievePayment: (...values) => {
      asked.push(values);
      return answer.promise;
    },
  });
  const call = client.retrievePayment('abc');
  await clock.advance(250);
  expect(seen).toEqual([]);
  answer.resolve(outcome);
  expect(await call).toBe(outcome);
  expect(asked).toEqual([['abc']]);
  expect(seen).toEqual([[labelsOf('retrievePayment', 'refused'), 250]]);
});

it('counts a call that throws, and throws', async () => {
  const { client, seen } = measured({ listDisputes: () => Promise.reject(new Error('a bug')) });
  await expect(client.listDisputes()).rejects.toThrow('a bug');
  expect(seen).toEqual([[labelsOf('listDisputes', 'thrown'), 0]]);
});

it('calls each operation by its own name', async () => {
  const names = [
    ...(['createPayment', 'retrievePayment', 'listPayments', 'confirmPayment', 'declinePayment'] as const),
    ...(['refundPayment', 'createPayout', 'retrievePayout', 'listPayouts', 'retrieveBalance'] as const),
    'listDisputes' as const,
  ];
  const called: string[] = [];
  const operations = names.map((name) => [
    name,
    () => {
      called.push(name);
      return Promise.resolve({ kind: 'accepted' });
    },
  ]);
  const { client, seen } = measured(Object.fromEntries(operations));
  for (const name of names) await (client[name] as () => Promise<unknown>)();
  expect(called).toEqual(names);
  expect(seen.map(([labels]) => labels)).toEqual(names.map((name) => labelsOf(name, 'accepted')));
});
