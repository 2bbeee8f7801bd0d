/** Views and indexes are identified by their version alone: what changed under its version would be misread. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { entriesOf, entryKindOf } from '@tollgate/books';
import { viewSchemaVersion, type ViewEnvelope, type ViewKind } from './view-kind.ts';
import { paymentKind, payoutKind, transferKind, viewKinds } from './view-kinds.ts';
import { toRecordedIn, walletTransferred, type AnyEvent } from './testing/histories.ts';
import { anyHistory } from './testing/payment-histories.ts';
import { anyPayoutHistory } from './testing/payout-histories.ts';
import { historyTo } from '@tollgate/core/testing/samples';
import { payoutHistoryTo } from '@tollgate/core/testing/payout-samples';

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

/** The entries of each event. */
function entriesOfHistory(kind: ViewKind, history: readonly AnyEvent[]) {
  let view: ViewEnvelope | undefined;
  return toRecordedIn(`${kind.streamPrefix}x`, history).map((event) => {
    const before = (view && kind.standingsOf?.(view)) ?? [];
    view = kind.fold(view, event);
    return [entryKindOf(subjectOf(kind), event.type), entriesOf(before, kind.standingsOf?.(view) ?? [])];
  });
}
const subjectOf = ({ name }: ViewKind) => (name === 'payout' || name === 'transfer' ? name : 'payment');

const side = {
  status: 'approved',
  amount: 1000,
  currency: 'EUR',
  refundedAmount: 0,
  authorizedAmount: 0,
  orderNumber: null,
};
const differs = (operation: 'payment' | 'payout', serviceToken: string, amount: number): AnyEvent => ({
  type: 'ReviewOpened',
  data: {
    code: 'discrepancy',
    evidence: {},
    discrepancy: { kind: 'terms_disagree', operation, serviceToken, ours: side, theirs: { ...side, amount } },
  },
});
const kept = (number: number, released: object): AnyEvent => ({
  type: 'ReviewResolved',
  data: { code: 'discrepancy', number, resolution: 'keep_ours', reason: 'r', ...released },
});
/** Disagreements in which we keep our record, with and without release. */
const disagreeing = (operation: 'payment' | 'payout', serviceToken: string, amount: number) => [
  differs(operation, serviceToken, amount),
  kept(1, {}),
  differs(operation, serviceToken, amount / 2),
  kept(2, { releases: true }),
];
// Two commits had changed how money is booked, and every index kept its old sums.
it('the booking rule changes only with the version: raise viewSchemaVersion, unless only these histories have changed', () => {
  const sampled = <Event extends AnyEvent>(histories: fc.Arbitrary<Event[]>): AnyEvent[][] =>
    fc.sample(histories, { numRuns: 100, seed: 1 });
  const entries = [
    ...sampled(anyHistory).map((history) => entriesOfHistory(paymentKind, history)),
    ...sampled(anyPayoutHistory).map((history) => entriesOfHistory(payoutKind, history)),
    entriesOfHistory(paymentKind, [...historyTo.approved, ...disagreeing('payment', 'token-a', 900)]),
    entriesOfHistory(payoutKind, [...payoutHistoryTo.approved, ...disagreeing('payout', 'token-a', 900)]),
    entriesOfHistory(transferKind, [walletTransferred]),
  ];
  const text = JSON.stringify(entries, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect([viewSchemaVersion, hashOf(text)]).toEqual([1, 'ca05bd220047']);
});
