import type { RecordedEvent } from '@tollgate/event-store';
import { InvariantViolation, payoutPhases } from '@tollgate/payment-domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { streamOf, type DocumentEnvelope, type DocumentKind } from './document-kind.ts';
import { viewStreamOf } from './view-streams.ts';
import {
  disputeKind,
  documentKinds,
  kindOfStream,
  kindOfViewStream,
  paymentKind,
  payoutKind,
} from './document-kinds.ts';
import {
  anyDisputeHistory,
  anyHistory,
  anyPayoutHistory,
  toRecordedIn,
  type AnyEvent,
} from './testing/index.ts';

const kinds: [string, DocumentKind, fc.Arbitrary<AnyEvent[]>][] = [
  ['payment', paymentKind, anyHistory],
  ['payout', payoutKind, anyPayoutHistory],
  ['dispute', disputeKind, anyDisputeHistory],
];

const fold = (kind: DocumentKind, events: readonly RecordedEvent[], from?: DocumentEnvelope) =>
  events.reduce<DocumentEnvelope | undefined>((document, event) => kind.fold(document, event), from);
const stored = (kind: DocumentKind, document: DocumentEnvelope | undefined) => kind.schema.parse(document);
const bytes = (kind: DocumentKind, document: DocumentEnvelope | undefined) =>
  JSON.stringify(stored(kind, document));

test('every kind has streams, a table and a schema of its own', () => {
  expect(documentKinds.map(({ name }) => name)).toEqual(kinds.map(([name]) => name));
  for (const kind of documentKinds) {
    const stream = streamOf(kind, 'x_1');
    expect(kindOfStream(stream)).toBe(kind);
    expect(kindOfViewStream(viewStreamOf(stream))).toBe(kind);
    expect(kindOfStream(viewStreamOf(stream))).toBeUndefined();
    expect(kindOfViewStream(stream)).toBeUndefined();
  }
  expect(new Set(documentKinds.map(({ table }) => table.name)).size).toBe(documentKinds.length);
});

describe.each(kinds)('a %s', (_, kind, anyHistoryOf) => {
  test('loses nothing when its document is stored, and reads back as it was', () => {
    fc.assert(
      fc.property(anyHistoryOf, (history) => {
        const document = fold(kind, toRecordedIn(streamOf(kind, 'x_1'), history));
        expect(stored(kind, document)).toEqual(document);
        expect(stored(kind, JSON.parse(JSON.stringify(document)) as DocumentEnvelope)).toEqual(document);
      }),
    );
  });

  test('rebuilt from zero is built step by step, byte for byte, with stored documents and repeated events in between', () => {
    const steps = fc.array(fc.record({ upTo: fc.nat(30), again: fc.nat(5) }), { maxLength: 6 });
    fc.assert(
      fc.property(anyHistoryOf, steps, (history, cuts) => {
        const events = toRecordedIn(streamOf(kind, 'x_1'), history);
        let document: DocumentEnvelope | undefined;
        for (const { upTo, again } of [...cuts, { upTo: events.length, again: 2 }]) {
          const next = document === undefined ? 0 : Math.max(0, document.revision + 1 - again);
          document = fold(kind, events.slice(next, Math.max(upTo, next)), document);
          if (document !== undefined)
            document = stored(kind, JSON.parse(bytes(kind, document)) as DocumentEnvelope);
        }
        expect(bytes(kind, document)).toBe(bytes(kind, fold(kind, events)));
      }),
      { numRuns: 300 },
    );
  });

  test('has its token, its times and how far it has read', () => {
    fc.assert(
      fc.property(anyHistoryOf, (history) => {
        const events = toRecordedIn(streamOf(kind, 'x_1'), history);
        const last = events.at(-1)!;
        expect(fold(kind, events)).toMatchObject({
          schemaVersion: kind.schemaVersion,
          token: 'x_1',
          createdAt: (events[0]!.metadata as { recordedAt: number }).recordedAt,
          updatedAt: (last.metadata as { recordedAt: number }).recordedAt,
          revision: last.revision,
          position: last.position,
        });
      }),
      { numRuns: 20 },
    );
  });

  test('goes no further than it can read', () => {
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
    const document = stored(
      kind,
      fold(kind, toRecordedIn(streamOf(kind, 'x_1'), fc.sample(anyHistoryOf, 1)[0]!)),
    );
    for (const schemaVersion of [kind.schemaVersion - 1, kind.schemaVersion + 1])
      expect(kind.schema.safeParse({ ...document, schemaVersion }).success).toBe(false);
  });
});

test('the histories of payouts in these specs reach every phase', () => {
  const reached = fc.sample(anyPayoutHistory, { numRuns: 300, seed: 1 }).map((history) => {
    const document = toRecordedIn('payout-po_1', history).reduce(payoutKind.fold, undefined as never);
    return (document as { payout: { phase: string } }).payout.phase;
  });
  expect([...new Set(reached)].sort()).toEqual([...payoutPhases].sort());
});
