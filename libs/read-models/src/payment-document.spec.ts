import { InvariantViolation, paymentPhases } from '@tollgate/payment-domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldPaymentDocument, paymentDocumentSchema, type PaymentDocument } from './payment-document.ts';
import { anyHistory, happening, requested, startedAt, toRecordedEvents } from './testing/index.ts';
import type { RecordedEvent } from '@tollgate/event-store';

const fold = (events: readonly RecordedEvent[], from?: PaymentDocument) =>
  events.reduce(foldPaymentDocument, from);
const stored = (document: PaymentDocument | undefined) => paymentDocumentSchema.parse(document);
const bytes = (document: PaymentDocument | undefined) => JSON.stringify(stored(document));

test('a document tells the payment, when it began and last changed, and how far it has read', () => {
  const document = fold(toRecordedEvents([requested(), happening.accepted, happening.approved], 'pay_7'));
  expect(document).toMatchObject({
    schemaVersion: 1,
    token: 'pay_7',
    createdAt: startedAt,
    updatedAt: startedAt + 2_000,
    revision: 2,
    position: '0000000000000003',
    payment: { phase: 'approved', approvedAmount: 1_500 },
  });
});

test('an event that the document has seen changes nothing', () => {
  const events = toRecordedEvents([requested(), happening.accepted, happening.approved]);
  const document = fold(events);
  for (const event of events) expect(foldPaymentDocument(document, event)).toBe(document);
});

describe('a document goes no further than it can read', () => {
  const [first, second, third] = toRecordedEvents([requested(), happening.accepted, happening.pending]);

  test('events in between are missing, even where the machine would not mind', () => {
    const [requestedFirst, , acceptedThird] = toRecordedEvents([
      requested(),
      happening.notSent,
      happening.accepted,
    ]);
    expect(() => foldPaymentDocument(fold([requestedFirst!]), acceptedThird!)).toThrow(InvariantViolation);
    expect(() => foldPaymentDocument(undefined, second!)).toThrow(InvariantViolation);
  });

  test('the payment machine rules the event out', () => {
    expect(() =>
      foldPaymentDocument(fold([first!, second!]), {
        ...third!,
        type: 'AttemptNotFound',
        data: { attemptNumber: 1 },
      }),
    ).toThrow(InvariantViolation);
  });

  test.each([
    ['the type is unknown', { type: 'PaymentForgotten' }],
    ['the data is of no version', { type: 'PaymentHeld', data: { heldAmount: 'much' } }],
    ['the metadata is of no version', { metadata: {} }],
  ])('%s', (_, changes) => {
    expect(() => foldPaymentDocument(fold([first!, second!]), { ...third!, ...changes })).toThrow();
  });
});

test('any stored document reads back as it was', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const document = stored(fold(toRecordedEvents(history)));
      expect(stored(JSON.parse(JSON.stringify(document)) as PaymentDocument)).toEqual(document);
    }),
  );
});

test('rebuilt from zero is built step by step, byte for byte, with stored documents and repeated events in between', () => {
  const steps = fc.array(fc.record({ upTo: fc.nat(30), again: fc.nat(5) }), { maxLength: 6 });
  fc.assert(
    fc.property(anyHistory, steps, (history, cuts) => {
      const events = toRecordedEvents(history);
      let document: PaymentDocument | undefined;
      for (const { upTo, again } of [...cuts, { upTo: events.length, again: 2 }]) {
        const next = document === undefined ? 0 : Math.max(0, document.revision + 1 - again);
        document = fold(events.slice(next, Math.max(upTo, next)), document);
        if (document !== undefined) document = stored(JSON.parse(bytes(document)) as PaymentDocument);
      }
      expect(bytes(document)).toBe(bytes(fold(events)));
    }),
    { numRuns: 300 },
  );
});

test('the histories of these specs reach every phase', () => {
  const reached = fc.sample(anyHistory, { numRuns: 3_000, seed: 1 }).flatMap((history) => {
    const document = fold(toRecordedEvents(history));
    return document === undefined ? [] : [document.payment.phase];
  });
  expect([...new Set(reached)].sort()).toEqual([...paymentPhases].sort());
});
