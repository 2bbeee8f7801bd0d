/** Any bytes in the store are read as an event, or refused with a specific error. */
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { decodePaymentEvent, paymentEventSchemas } from './payment/payment-events.ts';
import { decodePayoutEvent, payoutEventSchemas } from './payout/payout-events.ts';
import { EventOfNewerVersion } from '@tollgate/event-store/schema-version';

type Decode = (stored: { type: string; data: unknown; metadata?: unknown }) => { type: string };

const isRefusal = (error: unknown): boolean =>
  error instanceof z.ZodError || error instanceof RangeError || error instanceof EventOfNewerVersion;

test.each<[string, Decode, object]>([
  ['payment', decodePaymentEvent, paymentEventSchemas],
  ['payout', decodePayoutEvent, payoutEventSchemas],
])('events of a %s are read, or refused with a specific error', (_, decode, schemas) => {
  const type = fc.oneof(
    { arbitrary: fc.constantFrom(...Object.keys(schemas)), weight: 6 },
    fc.constantFrom('__proto__', 'constructor', 'toString', ''),
    fc.string(),
  );
  const names = fc.constantFrom(
    'terms',
    'attempt',
    'amount',
    'team',
    'code',
    'evidence',
    'status',
    '__proto__',
  );
  const data = fc.oneof(fc.dictionary(names, fc.jsonValue()), fc.jsonValue(), fc.constant(undefined));
  const metadata = fc.oneof(
    fc.record({ schemaVersion: fc.oneof(fc.integer({ min: -1, max: 5 }), fc.jsonValue()) }),
    fc.jsonValue(),
    fc.constant(undefined),
  );
  fc.assert(
    fc.property(type, data, metadata, (typeStored, dataStored, stamp) => {
      try {
        expect(decode({ type: typeStored, data: dataStored, metadata: stamp }).type).toBe(typeStored);
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
    }),
    { numRuns: propertyRuns(1_000) },
  );
});
