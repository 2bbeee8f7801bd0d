import { expect, test } from 'vitest';
import { z } from 'zod';
import { toErrorEntries } from './invalid-request.ts';

const schema = z.strictObject({
  amount: z.int('must be an integer in minor units').min(1, 'must be at least 1'),
  product: z.string().min(2).max(3),
  locale: z.enum(['de', 'en']).optional(),
  customer: z.strictObject({ email: z.email() }).optional(),
});

const entriesOf = (value: unknown, codeOf?: (parameter: string) => string | undefined) => {
  const result = schema.safeParse(value);
  if (result.success) throw new Error('the value is valid');
  return toErrorEntries(result.error, codeOf);
};

test.each([
  [{ amount: 0, product: 'ab' }, 'amount', 'amount must be at least 1.'],
  [{ amount: '1', product: 'ab' }, 'amount', 'amount must be an integer in minor units.'],
  [{ amount: 1 }, 'product', 'product is missing.'],
  [{ amount: 1, product: 7 }, 'product', 'product must be of type string.'],
  [{ amount: 1, product: 'a' }, 'product', 'product must be at least 2 characters.'],
  [{ amount: 1, product: 'abcd' }, 'product', 'product must be at most 3 characters.'],
  [{ amount: 1, product: 'ab', locale: 'xx' }, 'locale', 'locale must be one of de, en.'],
  [{ amount: 1, product: 'ab', customer: { email: 'x' } }, 'customer.email', 'customer.email is not valid.'],
  [
    { amount: 1, product: 'ab', customer: { email: 'a@b.ce', pan: 1 } },
    'customer.pan',
    'customer.pan is not a known parameter.',
  ],
  ['text', 'body', 'body must be of type object.'],
])('%j is reported under its parameter', (value, parameter, message) => {
  expect(entriesOf(value)).toEqual([
    { code: 'invalid_param', kind: 'invalid_request_error', message, parameter },
  ]);
});

test('each unknown parameter has its own entry, and a name is repeated only so far', () => {
  const long = 'x'.repeat(1_000);
  const parameters = entriesOf({ amount: 1, product: 'ab', one: 1, [long]: 1 }).map(
    ({ parameter }) => parameter,
  );
  expect(parameters).toEqual(['one', long.slice(0, 64)]);
});

test('a code may be chosen by parameter', () => {
  const entries = entriesOf({ amount: 0 }, (parameter) =>
    parameter === 'amount' ? 'incorrect_amount' : undefined,
  );
  expect(entries.map(({ code }) => code)).toEqual(['incorrect_amount', 'invalid_param']);
});

// A capture with an amount was refused as an incorrect amount, which sends its reader to look for a right one.
test('an unknown parameter of any name is reported as unknown', () => {
  const entries = entriesOf({ amount: 1, product: 'ab', currency: 'EUR' }, () => 'incorrect_currency');
  expect(entries).toMatchObject([{ code: 'invalid_param', parameter: 'currency' }]);
});

test('thousands of faults get a short answer', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
  expect(entriesOf({ amount: 1, product: 'ab', ...many })).toHaveLength(20);
});
