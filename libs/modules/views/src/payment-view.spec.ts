import {
  InvariantViolation,
  type PaymentAggregate,
  decodePaymentEvent,
  evolvePaymentAggregate,
  paymentPhases,
} from '@tollgate/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { viewSchemaVersion } from './view-kind.ts';
import { type PaymentView, paymentKind } from './view-kinds.ts';
import { anyHistory, happening, requested, toRecordedEvents } from './testing/payment-histories.ts';
import { startedAt } from './testing/histories.ts';
import type { Position, RecordedEvent } from '@tollgate/event-store';

const { fold: foldPaymentView } = paymentKind;
const fold = (events: readonly RecordedEvent[], from?: PaymentView) =>
  events.reduce<PaymentView | undefined>(foldPaymentView, from);

test('a view rejects an event that the payment machine rules out', () => {
  const [first, second, third] = toRecordedEvents([requested(), happening.accepted, happening.pending]);
  expect(() =>
    foldPaymentView(fold([first!, second!]), {
      ...third!,
      type: 'AttemptNotFound',
      data: { attemptNumber: 1 },
    }),
  ).toThrow(InvariantViolation);
});

const raisedAt = (number: number) => startedAt + number * 1_000;

test('each open review keeps its opening time, even if another of its code opens', () => {
  const { accepted, approved, reviews, reviewResolved } = happening;
  const notReadable = {
    type: 'ReviewOpened',
    data: { code: 'service_not_readable', evidence: { reason: 'no_answer' } },
  } as const;
  const history = [requested(), accepted, reviews, notReadable, approved, reviews];
  const view = fold(toRecordedEvents(history))!;
  expect(view.payment.reviews.map(({ code }) => code)).toEqual([
    'discrepancy',
    'service_not_readable',
    'discrepancy',
  ]);
  expect(view.reviewsSince).toEqual([raisedAt(2), raisedAt(3), raisedAt(5)]);
  const resolved = fold(toRecordedEvents([...history, reviewResolved, reviews]))!;
  expect(resolved.reviewsSince).toEqual([raisedAt(3), raisedAt(5), raisedAt(7)]);
});

test('if several of one code are resolved one by one, the others keep their time', () => {
  const { accepted, reviews, reviewResolved } = happening;
  const second = { ...reviewResolved, data: { ...reviewResolved.data, number: 2 } };
  const history = [requested(), accepted, reviews, reviews, reviews, second];
  const view = fold(toRecordedEvents(history))!;
  expect(view.payment.reviews.map(({ number }) => number)).toEqual([1, 3]);
  expect(view.reviewsSince).toEqual([raisedAt(2), raisedAt(4)]);
});

test('each open review has a time, in any history', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const { reviewsSince, payment } = fold(toRecordedEvents(history))!;
      expect(reviewsSince).toHaveLength(payment.reviews.length);
      expect(reviewsSince).toEqual(reviewsSince.toSorted((a, b) => a - b));
    }),
  );
});

test('folding decided events equals folding them once stored', () => {
  const [first, ...others] = toRecordedEvents([requested(), happening.accepted, happening.approved]);
  const decided = others.reduce<PaymentAggregate<Position>>(
    (view, { revision, position, type, data }) =>
      evolvePaymentAggregate(view, {
        token: 'pay_1',
        revision,
        position,
        recordedAt: raisedAt(revision),
        event: decodePaymentEvent({ type, data }),
      }),
    fold([first!])!,
  );
  expect({ ...decided, schemaVersion: viewSchemaVersion }).toEqual(fold([first!, ...others]));
});

test('the histories of these specs reach every phase', () => {
  const reached = fc.sample(anyHistory, { numRuns: 3_000, seed: 1 }).flatMap((history) => {
    const view = fold(toRecordedEvents(history));
    return view === undefined ? [] : [view.payment.phase];
  });
  expect([...new Set(reached)].sort()).toEqual([...paymentPhases].sort());
});
