/** Separate streams for the data of a payment. Releases that run side by side find them by these names. */
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { recurringStream, recurringTokenStored, recurringTokenStoredSchema } from './recurring-tokens.ts';
import { refundKeyStream, refundKeyUsed, refundKeyUsedSchema } from './refund-keys.ts';

it.each([
  [
    'a recurring token',
    recurringStream('rec_1'),
    'recurring-rec_1',
    recurringTokenStored,
    'RecurringTokenStored',
  ],
  ['the key of a refund', refundKeyStream('ref_1'), 'refund-ref_1', refundKeyUsed, 'RefundKeyUsed'],
])('%s keeps its name', (_what, stream, knownStream, type, knownType) => {
  expect([stream, type]).toEqual([knownStream, knownType]);
});

const whose = { environment: 'sandbox', team: 'shop', paymentToken: 'pay_1' };

it.each<[string, z.ZodType, object]>([
  [
    'a recurring token',
    recurringTokenStoredSchema,
    { ...whose, account: 'main', sealedRecurringToken: 'k1.abc' },
  ],
  ['the key of a refund', refundKeyUsedSchema, { ...whose, fingerprint: 'k1.abc' }],
])('%s is read back whole', (_what, schema, stored) => {
  expect(schema.parse(stored)).toEqual(stored);
});
