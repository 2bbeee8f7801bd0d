/** Refunds of which nobody can say for certain whether they were made. */
import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  announcedCall,
  decided,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  refundSubmitted,
} from '../../testing/samples.ts';
import type { SubmitRefund } from './payment-commands.ts';
import type { PaymentEvent, PaymentEventOf, ReviewCode } from './payment-events.ts';
import type { Evidence, Resolution } from '../review.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import { mayBeMade, mayHaveBeenMade } from './refunds.ts';
import { resolutionsOf } from './resolutions.ts';

const { given } = scenario(paymentDomain);
const { quietUntil } = announcedCall;
const { approved } = historyTo;
const unresolved: PaymentEvent[] = [
  ...[...approved, refundSubmitted('refund-1', 300)],
  { type: 'RefundUnresolved', data: { refundToken: 'refund-1', reason: 'timeout' } },
];

const opened = (code: ReviewCode, evidence: object): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence: expect.objectContaining(evidence) },
});
const acknowledged = (code: ReviewCode): PaymentEvent => ({
  type: 'ReviewResolved',
  data: { code, number: 1, resolution: 'acknowledged', reason: 'I asked them' },
});
const declinedEvent = (reason: PaymentEventOf<'RefundDeclined'>['data']['reason']): PaymentEvent => ({
  type: 'RefundDeclined',
  data: { refundToken: 'refund-1', errors: [], reason },
});
const external = (amount: number): PaymentEvent => ({ type: 'ExternalRefundObserved', data: { amount } });
const shows = (refundedAmount: number) =>
  inquired(observed('approved', { refundedAmount }), { inquiredAt: quietUntil });
const say = (code: ReviewCode, resolution: Resolution, number = 1): ResolveReview<ReviewCode> => ({
  ...{ type: 'ResolveReview', code, number, resolution, reason: 'I asked them' },
});
const refundOf = (events: readonly PaymentEvent[]) => paymentAfter(events).refunds[0]!;
const submit: SubmitRefund = {
  ...{ type: 'SubmitRefund', refundToken: 'refund-1', amount: 300, fingerprint: 'f', window: announcedCall },
};

// A person called it not made before the service had decided it: it was booked as made elsewhere, and its team was told to send another.
describe('a refund that was called not made, and as much has gone back since', () => {
  const calledNotMade = [...unresolved, declinedEvent('resolved')];
  const made = (observedRefundedAmount: number) =>
    opened('refund_disagrees', {
      ...{ refundToken: 'refund-1', amount: 300, refundedAmount: 0, observedRefundedAmount },
    });
  const seen = [...calledNotMade, ...decided(calledNotMade, shows(300))];

  test.each([300, 450])('is in review, and the sum counts: %i', (sum) =>
    given(calledNotMade)
      .when(shows(sum))
      .then([external(sum), made(sum)]),
  );

  test('is not, where less has gone back, or where it was never sent', () => {
    given(calledNotMade)
      .when(shows(299))
      .then([external(299)]);
    given([...unresolved, declinedEvent('not-sent')])
      .when(shows(300))
      .then([external(300)]);
  });

  test('is asked about once', () => {
    given(seen).when(shows(300)).thenNothing();
    const answered = [...seen, acknowledged('refund_disagrees')];
    given(answered)
      .when(shows(700))
      .then([external(400)]);
  });

  test('is told to its team as in review until a person has answered, and no inquiry answers it', () => {
    const isTold = (events: readonly PaymentEvent[]) => mayBeMade(paymentAfter(events), refundOf(events));
    expect([calledNotMade, seen].map(isTold)).toEqual([false, true]);
    expect(isTold([...seen, acknowledged('refund_disagrees')])).toBe(false);
    const [review] = paymentAfter(seen).reviews;
    expect(resolutionsOf(paymentAfter(seen), review!)).toEqual(['acknowledged']);
  });
});

// The amount was in review as well, and the answer to that booked it as made elsewhere.
test('a refund that was called not made is in review, too, where the payment is of another amount', () => {
  const called = [...unresolved, declinedEvent('resolved')];
  const shown = inquired(observed('approved', { amount: 1_200, refundedAmount: 300 }));
  const disagreeing = [...called, ...decided(called, shown)];
  const isTold = (events: readonly PaymentEvent[]) => mayBeMade(paymentAfter(events), refundOf(events));
  expect([called, disagreeing].map(isTold)).toEqual([false, true]);
  const answered = [...disagreeing, ...decided(disagreeing, say('terms_disagree', 'observed_terms_apply'))];
  expect(paymentAfter(answered)).toMatchObject({
    ...{ approvedAmount: 1_200, refundedAmount: 300 },
    reviews: [{ code: 'refund_disagrees', evidence: { refundToken: 'refund-1' } }],
  });
  const seen = [...answered, ...decided(answered, say('refund_disagrees', 'acknowledged', 2))];
  expect([isTold(answered), isTold(seen)]).toEqual([true, false]);
  expect(mayHaveBeenMade(paymentAfter(seen), refundOf(seen))).toBe(true);
});

test.each([
  ['unknown_status', observed('odd', { refundedAmount: 300 })],
  ['terms_disagree', observed('approved', { amount: 900, refundedAmount: 300 })],
] as const)(
  'a refund that was called not made is doubtful after %s with its amount was acknowledged',
  (code, picture) => {
    const called = [...unresolved, declinedEvent('resolved')];
    const shown = [...called, ...decided(called, inquired(picture))];
    expect(mayBeMade(paymentAfter(shown), refundOf(shown))).toBe(true);
    const seen = paymentAfter([...shown, ...decided(shown, say(code, 'acknowledged'))]);
    expect([mayBeMade(seen, refundOf(shown)), mayHaveBeenMade(seen, refundOf(shown))]).toEqual([false, true]);
  },
);

test('what is shown beside a refund without an outcome may be one that was called not made', () => {
  const called = [...unresolved, declinedEvent('resolved'), refundSubmitted('refund-2', 500)];
  const isTold = (sum: number) => {
    const lost: PaymentEvent = {
      type: 'RefundUnresolved',
      data: { refundToken: 'refund-2', reason: 'timeout' },
    };
    const history = [...called, lost];
    return mayBeMade(paymentAfter([...history, ...decided(history, shows(sum))]), refundOf(history));
  };
  expect([299, 300, 800].map(isTold)).toEqual([false, true, true]);
});

// The rest of what the service had shown counted as there until the next inquiry.
test.each([
  ['refund_made', 600, 600],
  ['refund_not_made', 600, 600],
  ['refund_not_made', 300, 300],
  ['refund_made', 0, 300],
] as const)('%s takes what was shown as given back over: %i', (resolution, sum, refundedAmount) => {
  const submitted = { ...refundSubmitted('refund-1', 300) };
  const unknown = {
    ...submitted,
    data: { ...submitted.data, sumUnknown: true },
  } as PaymentEvent;
  const history = [...approved, unknown, ...unresolved.slice(-1)];
  const asked = [...history, ...decided(history, shows(sum))];
  const answered = paymentAfter([...asked, ...decided(asked, say('refund_unresolved', resolution))]);
  expect(answered).toMatchObject({ refundedAmount, reviews: [] });
});

test('what was shown as given back is in the review of a refund under way once the amount is taken over', () => {
  const called = [...unresolved, declinedEvent('resolved'), refundSubmitted('refund-2', 300)];
  const lost: PaymentEvent = {
    type: 'RefundUnresolved',
    data: { refundToken: 'refund-2', reason: 'timeout' },
  };
  const shown = observed('approved', { amount: 1_200, refundedAmount: 300 });
  const history = [...called, lost];
  const asked = [...history, ...decided(history, inquired(shown, { inquiredAt: quietUntil }))];
  const answered = [...asked, ...decided(asked, say('terms_disagree', 'observed_terms_apply'))];
  expect(paymentAfter(answered).reviews).toMatchObject([
    { code: 'refund_unresolved', evidence: { refundToken: 'refund-2', observedRefundedAmount: 300 } },
  ]);
  expect(mayBeMade(paymentAfter(answered), refundOf(answered))).toBe(true);
});

// Until the provider answered, the team could pay out what it had shown as given back.
test('inquire_again leaves the review of a refund open until the service has answered', () => {
  const called = [...unresolved, ...decided(unresolved, shows(1_000))];
  const asked = [...called, ...decided(called, say('refund_unresolved', 'inquire_again'))];
  expect(paymentAfter(asked).reviews).toMatchObject([
    { code: 'refund_unresolved', number: 2, evidence: { observedRefundedAmount: 1_000 } },
  ]);
  expect(decided(asked, shows(300))).toMatchObject([{ type: 'RefundApproved' }, { type: 'ReviewResolved' }]);
});

test('the review of a refund without an outcome has the sum that was shown last', () => {
  const called = [...unresolved, ...decided(unresolved, shows(0))];
  const later = [...called, ...decided(called, shows(1_000))];
  expect(paymentAfter(later).reviews).toMatchObject([{ evidence: { observedRefundedAmount: 1_000 } }]);
});

// The inquiry before it showed a status that nobody knows, and 300 given back in the console: that was taken for a refund that was lost.
test.each(['unknown_status', 'terms_disagree', 'only_here'] as const)(
  'while %s is open or acknowledged, the sum approves no refund',
  (code) => {
    const doubted: PaymentEvent[] = [...approved, { type: 'ReviewOpened', data: { code, evidence: {} } }];
    const seen = [...doubted, acknowledged(code)];
    for (const history of [doubted, seen]) {
      const [event] = decided(history, submit);
      expect(event).toMatchObject({ type: 'RefundSubmitted', data: { sumUnknown: true } });
      // What was acknowledged once made every later refund end before a person.
      const understood = [...history, ...decided(history, shows(0))];
      expect(decided(understood, submit)[0]?.data).not.toHaveProperty('sumUnknown');
    }
    expect(decided(approved, submit)[0]?.data).not.toHaveProperty('sumUnknown');
  },
);

// For as long as the other one had no outcome, three days, its team was told to send another one.
test('a refund that a person called not made, and that is shown beside another one without an outcome, is in review', () => {
  const calledNotMade = [...unresolved, declinedEvent('resolved')];
  const isReviewOpened = (events: readonly PaymentEvent[]) =>
    events.some(({ type }) => type === 'ReviewOpened');
  const unresolvedSecond: PaymentEvent = {
    type: 'RefundUnresolved',
    data: { refundToken: 'refund-2', reason: 'timeout' },
  };
  const showsEarly = (refundedAmount: number) =>
    inquired(observed('approved', { refundedAmount }), { inquiredAt: announcedCall.answerBy });
  const history = [...calledNotMade, refundSubmitted('refund-2', 500), unresolvedSecond];
  for (const shown of [0, 299, 500]) expect(isReviewOpened(decided(history, showsEarly(shown)))).toBe(false);
  // Nobody knew the sum before it.
  const second = refundSubmitted('refund-2', 500);
  const unknownBefore: PaymentEvent = { ...second, data: { ...second.data, sumUnknown: true } };
  expect(isReviewOpened(decided([...calledNotMade, unknownBefore], showsEarly(500)))).toBe(true);
  const review = opened('refund_disagrees', {
    ...{ refundToken: 'refund-1', amount: 300, refundedAmount: 0, observedRefundedAmount: 300 },
  });
  given(history).when(showsEarly(300)).then([review]);
  const inReview = [...history, ...decided(history, showsEarly(300))];
  given(inReview).when(showsEarly(300)).thenNothing();
  const approvedSecond: PaymentEvent = { type: 'RefundApproved', data: { refundToken: 'refund-2' } };
  const answered = [...inReview, approvedSecond];
  given(answered)
    .when(showsEarly(800))
    .then([external(300)]);
});

const review = (code: ReviewCode, evidence: Evidence) => ({ code, evidence, number: 1 });
const shown = (observedRefundedAmount: number) => ({ observedRefundedAmount });
const named = review('refund_disagrees', { refundToken: 'refund-1' });
const other = review('refund_disagrees', { refundToken: 'refund-2' });
const [beside, enough] = [review('only_here', {}), review('terms_disagree', shown(500))];

test.each([
  ['resolved', 'is named', [named], true],
  ['resolved', 'is not named', [other], false],
  ['resolved', 'is named beside another review', [beside, named], true],
  ['resolved', 'has room in what is shown', [enough], true],
  ['resolved', 'has no room in what is shown', [review('unknown_status', shown(499))], false],
  ['resolved', 'has room in what shows no sums', [review('only_here', shown(500))], false],
  ['refused', 'was refused, and is named', [named], false],
  ['declined', 'was declined, and has room', [enough], false],
] as const)('(%s) may be made where it %s: %j', (reason, _, reviews, may) => {
  const history: PaymentEvent[] = [
    ...approved,
    external(200),
    refundSubmitted('refund-1', 300),
    declinedEvent(reason),
  ];
  const payment = paymentAfter(history);
  const [refund] = payment.refunds;
  expect(mayBeMade({ ...payment, reviews }, refund!)).toBe(may);
  expect(mayHaveBeenMade({ ...payment, acknowledged: reviews }, refund!)).toBe(may);
});

test('may not be made while it has no outcome', () => {
  const payment = paymentAfter([...approved, refundSubmitted('refund-1', 300)]);
  const [refund] = payment.refunds;
  expect(mayBeMade({ ...payment, reviews: [named] }, refund!)).toBe(false);
  expect(mayHaveBeenMade({ ...payment, acknowledged: [named] }, refund!)).toBe(false);
});

// 100 were given back in the console, and then 200: that was taken for a refund of 300 that was never made.
test('a sum that was seen to grow in parts approves no refund', () => {
  const seen = [...unresolved, ...decided(unresolved, shows(100))];
  const later = [...seen, ...decided(seen, shows(300))];
  expect(refundOf(later).state).toBe('unresolved');
  expect(paymentAfter(later).reviews).toMatchObject([
    { code: 'refund_unresolved', evidence: { observedRefundedAmount: 300, sumUnknown: true } },
  ]);
  given(later).when(shows(300)).thenNothing();
  // Nor where it was not shown between.
  const frozen = (refundedAmount: number) =>
    inquired(observed('frozen', { refundedAmount }), { inquiredAt: quietUntil });
  const inReview = [...unresolved, ...decided(unresolved, shows(0))];
  for (const history of [seen, inReview])
    for (const shown of [0, 100]) {
      const hidden = [...history, ...decided(history, frozen(shown))];
      const isPart = history === seen || shown > 0;
      const last = [...hidden, ...decided(hidden, shows(300))];
      expect(refundOf(last).state).toBe(isPart ? 'unresolved' : 'approved');
    }
});

// With the amount, the answer took the part over, and the rest was taken for the refund.
test('a sum that was seen in part, and that somebody called right, approves no refund', () => {
  const of900 = (refundedAmount: number) =>
    inquired(observed('approved', { amount: 900, refundedAmount }), { inquiredAt: quietUntil });
  const doubted = [...unresolved, ...decided(unresolved, of900(100))];
  const { number = 0 } = paymentAfter(doubted).reviews.find(({ code }) => code === 'terms_disagree') ?? {};
  const answered = [...doubted, ...decided(doubted, say('terms_disagree', 'observed_terms_apply', number))];
  expect(refundOf([...answered, ...decided(answered, of900(300))]).state).toBe('unresolved');
});

// The answer put the sum into the review of the refund, and that was taken for a part of it: it was held twice for ever.
test('the sum of an amount that somebody called the right one approves a refund', () => {
  const other = inquired(observed('approved', { amount: 900, refundedAmount: 300 }), {
    inquiredAt: quietUntil,
  });
  const doubted = [...unresolved, ...decided(unresolved, other)];
  const { number = 0 } = paymentAfter(doubted).reviews.find(({ code }) => code === 'terms_disagree') ?? {};
  const answered = [...doubted, ...decided(doubted, say('terms_disagree', 'observed_terms_apply', number))];
  expect(decided(answered, other)).toContainEqual({
    type: 'RefundApproved',
    data: { refundToken: 'refund-1' },
  });
});

// The service declined it and made it after all: booked as made elsewhere, and its team was told to send another one.
test.each(['declined', 'refused'] as const)(
  'a refund that was %s, and whose amount has gone back since, is in review',
  (reason) => {
    const over = [...unresolved, declinedEvent(reason)];
    given(over)
      .when(shows(301))
      .then([external(301)]);
    const seen = [...over, ...decided(over, shows(300))];
    expect(seen.slice(over.length)).toEqual([
      external(300),
      opened('refund_disagrees', { refundToken: 'refund-1' }),
    ]);
    expect(mayBeMade(paymentAfter(seen), refundOf(seen))).toBe(true);
    // Of several it may be any: one question, about the latest.
    const twice = [...over, refundSubmitted('refund-2', 300)];
    const declinedTwice: PaymentEvent[] = [
      ...twice,
      { type: 'RefundDeclined', data: { refundToken: 'refund-2', errors: [], reason: 'declined' } },
    ];
    given(declinedTwice)
      .when(shows(300))
      .then([external(300), opened('refund_disagrees', { refundToken: 'refund-2' })]);
    const [first, latest] = paymentAfter([...declinedTwice, ...decided(declinedTwice, shows(300))]).refunds;
    const told = paymentAfter([...declinedTwice, ...decided(declinedTwice, shows(300))]);
    for (const refund of [first, latest]) expect(mayBeMade(told, refund!)).toBe(true);
    // While another one is under way, unless it is of that amount.
    const beside = [...over, refundSubmitted('refund-2', 100)];
    expect(decided(beside, shows(300))).toContainEqual(
      opened('refund_disagrees', { refundToken: 'refund-1' }),
    );
    const retried = [...over, refundSubmitted('refund-2', 300)];
    expect(decided(retried, shows(300))).not.toContainEqual(opened('refund_disagrees', {}));
  },
);

test('a sum that is taken back a second time is in review once more', () => {
  const later = (refundedAmount: number) =>
    inquired(observed('approved', { refundedAmount }), { inquiredAt: 30 * 60_000 });
  const once = [...approved, external(300), ...decided([...approved, external(300)], later(0))];
  const known = [...once, acknowledged('refund_disagrees')];
  given(known).when(later(0)).thenNothing();
  const again = [...known, ...decided(known, later(300))];
  expect(decided(again, later(0))).toMatchObject([
    { type: 'ReviewOpened', data: { code: 'refund_disagrees' } },
  ]);
});

// A refund was refused, and the inquiry about that failed: it blocked the others until a person had answered, who was not shown
// that it had been refused.
describe('a refund whose refusal no inquiry has confirmed', () => {
  const errors = [{ code: 'payment_disputed', kind: 'processing_error' }];
  const refused: PaymentEvent[] = [
    ...[...approved, refundSubmitted('refund-1', 300)],
    { type: 'RefundUnresolved', data: { refundToken: 'refund-1', reason: 'refused', errors } },
  ];
  const sees = (refundedAmount: number | undefined, inquiredAt = quietUntil) =>
    inquired(observed('approved', { refundedAmount }), { inquiredAt });

  test('is declined, with its reason, once an inquiry after the quiet period shows no effect', () => {
    given(refused)
      .when(sees(0, quietUntil - 1))
      .thenNothing();
    const declined: PaymentEvent = {
      type: 'RefundDeclined',
      data: { refundToken: 'refund-1', errors, reason: 'refused' },
    };
    given(refused).when(sees(0)).then([declined]);
    expect(refundOf([...refused, declined])).not.toHaveProperty('unconfirmed');
  });

  test('is approved by its sum, and in review with its code if no sum, or another one, is shown', () => {
    expect(decided(refused, sees(300))).toMatchObject([{ type: 'RefundApproved' }]);
    for (const sum of [undefined, 200])
      expect(decided(refused, sees(sum))).toEqual([
        opened('refund_unresolved', { refundToken: 'refund-1', refusedAs: 'payment_disputed' }),
      ]);
  });
});
