/** Views and indexes are identified by their version alone: what changed under its version would be misread. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { viewSchemaVersion, type ViewEnvelope, type ViewKind } from './view-kind.ts';
import { paymentKind, payoutKind, viewKinds } from './view-kinds.ts';
import { toRecordedIn, type AnyEvent } from './testing/histories.ts';
import { anyHistory } from './testing/payment-histories.ts';
import { anyPayoutHistory } from './testing/payout-histories.ts';
import { entriesOf } from '@tollgate/books';

/** Includes the order of the fields, which is that of the stored bytes; checks by functions are not in it. */
const fingerprintOf = (schema: z.ZodType): string =>
  hashOf(JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any' })));

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

it('the schemas of views change only with their version: raise viewSchemaVersion, and record both here', () => {
  expect({
    version: viewSchemaVersion,
    ...Object.fromEntries(viewKinds.map(({ name, schema }) => [name, fingerprintOf(schema)])),
  }).toEqual({
    version: 1,
    payment: 'cdbb2a9d89b9',
    payout: '74d6556e3ce2',
    dispute: '08ffb42f86a1',
    transfer: '2422e7c596eb',
    unmatched: '4b122506364b',
  });
});

// Two commits had changed how money is booked, and every index kept its old sums.
it('the booking rule changes only with the version: raise viewSchemaVersion, unless only these histories have changed', () => {
  const kinds = [
    [paymentKind, anyHistory],
    [payoutKind, anyPayoutHistory],
  ] as [ViewKind, fc.Arbitrary<AnyEvent[]>][];
  const entries = kinds.flatMap(([kind, anyHistoryOf]) =>
    fc.sample(anyHistoryOf, { numRuns: 100, seed: 1 }).map((history) => {
      const view = toRecordedIn(`${kind.streamPrefix}x`, history).reduce<ViewEnvelope | undefined>(
        kind.fold,
        undefined,
      );
      return entriesOf([], (view && kind.standingsOf?.(view)) ?? []);
    }),
  );
  const text = JSON.stringify(entries, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect([viewSchemaVersion, hashOf(text)]).toEqual([1, 'be498bde266d']);
});
