/**
 * Histories as stored under each schema version. Never edit a file here: when an event changes, the upcaster must lead the
 * old file to the same payment, and files of the new version are added.
 */
import { expect, test } from 'vitest';
import adopted from '../histories/v1/adopted.json' with { type: 'json' };
import approved from '../histories/v1/approved.json' with { type: 'json' };
import callbackDeferred from '../histories/v1/callback-deferred.json' with { type: 'json' };
import declined from '../histories/v1/declined.json' with { type: 'json' };
import disputed from '../histories/v1/disputed.json' with { type: 'json' };
import failed from '../histories/v1/failed.json' with { type: 'json' };
import notFoundThenSecondAttempt from '../histories/v1/not-found-then-second-attempt.json' with { type: 'json' };
import refund from '../histories/v1/refund.json' with { type: 'json' };
import refundDeclinedEarly from '../histories/v1/refund-declined-early.json' with { type: 'json' };
import refundsAndRecurringToken from '../histories/v1/refunds-and-recurring-token.json' with { type: 'json' };
import refusedLate from '../histories/v1/refused-late.json' with { type: 'json' };
import revised from '../histories/v1/revised.json' with { type: 'json' };
import voided from '../histories/v1/voided.json' with { type: 'json' };
import captureInquiredAgain from '../histories/v1/capture-inquired-again.json' with { type: 'json' };
import captured from '../histories/v1/captured.json' with { type: 'json' };
import unresolvedThenFound from '../histories/v1/unresolved-then-found.json' with { type: 'json' };
import reviewByTwo from '../histories/v1/review-by-two.json' with { type: 'json' };
import metadata from '../histories/v1/metadata.json' with { type: 'json' };
import refundSumUnknown from '../histories/v1/refund-sum-unknown.json' with { type: 'json' };
import { fold } from '../testing/samples.ts';
import { decodePaymentEvent, paymentEventSchemas } from './payment-events.ts';

interface History {
  events: { type: string; data: unknown }[];
  expected: unknown;
}

const histories: Record<string, History> = {
  adopted,
  approved,
  'callback deferred': callbackDeferred,
  declined,
  disputed,
  failed,
  'not found, then a second attempt': notFoundThenSecondAttempt,
  refund,
  'refund, declined early': refundDeclinedEarly,
  'refunds and a recurring token': refundsAndRecurringToken,
  'refused late': refusedLate,
  revised,
  captured,
  voided,
  'captured after an inquiry': captureInquiredAgain,
  'unresolved, then found': unresolvedThenFound,
  metadata,
  'a refund without an inquiry before it': refundSumUnknown,
  'a review that takes two persons': reviewByTwo,
};

test.each(Object.entries(histories))('the history "%s" is replayed to its payment', (_, history) => {
  expect(fold(history.events.map(decodePaymentEvent))).toEqual(history.expected);
});

test('the histories cover every event type', () => {
  const types = new Set(Object.values(histories).flatMap(({ events }) => events.map(({ type }) => type)));
  expect([...types].sort()).toEqual(Object.keys(paymentEventSchemas).sort());
});
