import type { RecordedEvent } from '@tollgate/event-store';
import { InvariantViolation, payoutPhases } from '@tollgate/core';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { streamOf, type ViewEnvelope, type ViewKind, viewSchemaVersion, viewStreamOf } from './view-kind.ts';
import {
  disputeKind,
  viewKinds,
  kindOfStream,
  paymentKind,
  payoutKind,
  transferKind,
  unmatchedKind,
} from './view-kinds.ts';
import { anyDisputeHistory, anyPayoutHistory } from './testing/payout-histories.ts';
import { anyUnmatchedHistory } from './testing/unmatched-histories.ts';
import { anyHistory } from './testing/payment-histories.ts';
import { toRecordedIn, walletTransferred, type AnyEvent } from './testing/histories.ts';

const kinds: [string, ViewKind, fc.Arbitrary<AnyEvent[]>][] = [
  ['payment', paymentKind, anyHistory],
  ['payout', payoutKind, anyPayoutHistory],
  ['dispute', disputeKind, anyDisputeHistory],
  ['transfer', transferKind, fc.constant([walletTransferred])],
  ['unmatched', unmatchedKind, anyUnmatchedHistory],
];

const fold = (kind: ViewKind, events: readonly RecordedEvent[], from?: ViewEnvelope) =>
  events.reduce<ViewEnvelope | undefined>((view, event) => kind.fold(view, event), from);
const stored = (kind: ViewKind, view: ViewEnvelope | undefined) => kind.schema.parse(view);
const bytes = (kind: ViewKind, view: ViewEnvelope | undefined) => JSON.stringify(stored(kind, view));

test('every kind has streams, a table and its own schema', () => {
  expect(viewKinds.map(({ name }) => name)).toEqual(kinds.map(([name]) => name));
  for (const kind of viewKinds) {
    const stream = streamOf(kind, 'x_1');
    expect(kindOfStream(stream)).toBe(kind);
    expect(kindOfStream(viewStreamOf(stream))).toBeUndefined();
  }
  expect(new Set(viewKinds.map(({ table }) => table.name)).size).toBe(viewKinds.length);
});

describe.each(kinds)('a %s', (_, kind, anyHistoryOf) => {
  test('loses nothing when its view is stored, and is read back unchanged', () => {
    fc.assert(
      fc.property(anyHistoryOf, (history) => {
        const view = fold(kind, toRecordedIn(streamOf(kind, 'x_1'), history));
        expect(stored(kind, view)).toEqual(view);
        expect(stored(kind, JSON.parse(JSON.stringify(view)) as ViewEnvelope)).toEqual(view);
      }),
    );
  });

  test('rebuilt from zero equals one built step by step, byte for byte, with stored views and repeated events in between', () => {
    const steps = fc.array(fc.record({ upTo: fc.nat(30), again: fc.nat(5) }), { maxLength: 6 });
    fc.assert(
      fc.property(anyHistoryOf, steps, (history, cuts) => {
        const events = toRecordedIn(streamOf(kind, 'x_1'), history);
        let view: ViewEnvelope | undefined;
        for (const { upTo, again } of [...cuts, { upTo: events.length, again: 2 }]) {
          const next = view === undefined ? 0 : Math.max(0, view.revision + 1 - again);
          view = fold(kind, events.slice(next, Math.max(upTo, next)), view);
          if (view !== undefined) view = stored(kind, JSON.parse(bytes(kind, view)) as ViewEnvelope);
        }
        expect(bytes(kind, view)).toBe(bytes(kind, fold(kind, events)));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('has its token, its times and its revision', () => {
    fc.assert(
      fc.property(anyHistoryOf, (history) => {
        const events = toRecordedIn(streamOf(kind, 'x_1'), history);
        const [first, last] = [events[0]!, events.at(-1)!];
        // An adopted payment has the creation time of its event.
        const { recordedAt } = first.metadata as { recordedAt: number };
        const { createdAt = recordedAt } =
          first.type === 'PaymentAdopted' ? (first.data as { createdAt?: number }) : {};
        expect(fold(kind, events)).toMatchObject({
          schemaVersion: viewSchemaVersion,
          token: 'x_1',
          createdAt,
          updatedAt: (last.metadata as { recordedAt: number }).recordedAt,
          revision: last.revision,
          position: last.position,
        });
      }),
      { numRuns: propertyRuns(20) },
    );
  });

  test('rejects an event that it cannot apply', () => {
    const [first, second] = toRecordedIn(
      streamOf(kind, 'x_1'),
      fc.sample(anyHistoryOf, 1)[0]!.slice(0, 1),
    ).flatMap((event) => [event, { ...event, revision: 1 }]);
    expect(() => fold(kind, [second!])).toThrow(InvariantViolation);
    expect(() => fold(kind, [first!, { ...second!, revision: 2 }])).toThrow(InvariantViolation);
    expect(() => fold(kind, [first!, { ...second!, type: 'Forgotten' }])).toThrow(RangeError);
    expect(() => fold(kind, [{ ...first!, metadata: {} }])).toThrow();
    expect(() => fold(kind, [{ ...first!, data: {} }])).toThrow();
  });

  test('of another version is not read', () => {
    const view = stored(
      kind,
      fold(kind, toRecordedIn(streamOf(kind, 'x_1'), fc.sample(anyHistoryOf, 1)[0]!)),
    );
    for (const schemaVersion of [viewSchemaVersion - 1, viewSchemaVersion + 1])
      expect(kind.schema.safeParse({ ...view, schemaVersion }).success).toBe(false);
  });
});

test('the histories of payouts in these specs reach every phase', () => {
  const reached = fc.sample(anyPayoutHistory, { numRuns: 300, seed: 1 }).map((history) => {
    const view = toRecordedIn('payout-po_1', history).reduce(payoutKind.fold, undefined as never);
    return (view as { payout: { phase: string } }).payout.phase;
  });
  expect([...new Set(reached)].sort()).toEqual([...payoutPhases].sort());
});
