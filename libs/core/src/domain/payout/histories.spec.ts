import { expect, test } from 'vitest';
import approved from '../histories/v1/payout-approved.json' with { type: 'json' };
import approvedBySecondKey from '../histories/v1/payout-approved-by-second-key.json' with { type: 'json' };
import callbackDeferred from '../histories/v1/payout-callback-deferred.json' with { type: 'json' };
import declinedThenRevised from '../histories/v1/payout-declined-then-revised.json' with { type: 'json' };
import notMadeThenFound from '../histories/v1/payout-not-made-then-found.json' with { type: 'json' };
import notSent from '../histories/v1/payout-not-sent.json' with { type: 'json' };
import refusedBySecondKey from '../histories/v1/payout-refused-by-second-key.json' with { type: 'json' };
import refused from '../histories/v1/payout-refused.json' with { type: 'json' };
import ofAnotherAmount from '../histories/v1/payout-of-another-amount.json' with { type: 'json' };
import reviewByTwo from '../histories/v1/payout-review-by-two.json' with { type: 'json' };
import { foldPayout } from '../testing/payout-samples.ts';
import { decodePayoutEvent, payoutDestinationSchema, payoutEventSchemas } from './payout-events.ts';

interface History {
  events: { type: string; data: unknown }[];
  expected: unknown;
}

const histories: Record<string, History> = {
  approved,
  'approved by a second key': approvedBySecondKey,
  'callback deferred': callbackDeferred,
  'declined, then revised': declinedThenRevised,
  'not made, then found': notMadeThenFound,
  'not sent': notSent,
  refused,
  'refused by a second key': refusedBySecondKey,
  'a review that took two persons': reviewByTwo,
  'of another amount than was asked for': ofAnotherAmount,
};

test.each(Object.entries(histories))('the history "%s" is replayed to its payout', (_, history) => {
  expect(foldPayout(history.events.map(decodePayoutEvent))).toEqual(history.expected);
});

test('the histories cover every event type and every kind of destination', () => {
  const events = Object.values(histories).flatMap((history) => history.events.map(decodePayoutEvent));
  expect([...new Set(events.map(({ type }) => type))].sort()).toEqual(Object.keys(payoutEventSchemas).sort());
  const kinds = events.flatMap((event) =>
    event.type === 'PayoutRequested' ? [event.data.terms.destination.kind] : [],
  );
  expect([...new Set(kinds)].sort()).toEqual(
    payoutDestinationSchema.options.map(({ shape }) => shape.kind.value).sort(),
  );
});
