import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import { resolutions, type Resolution } from '../review.ts';
import {
  attempt,
  decided,
  fold,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  refundSubmitted,
  requested,
  sampleEvents,
  types,
} from '../../testing/samples.ts';
import type { PaymentInput } from './payment-commands.ts';
import { decide } from './payment-decide.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import { reviewCodes, type ReviewCode, type PaymentEvent } from './payment-events.ts';
import { mayBePaid } from './creation.ts';
import { isFinalPhase, paymentPhases, type PaymentPhase } from './payment-machine.ts';
import { reservedAmount } from './payment-state.ts';
import { resolutionsOf } from './resolutions.ts';

const { given } = scenario(paymentDomain);

/** A review opened with at least this evidence. */
const opened = (code: ReviewCode, evidence: object = {}): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence: expect.objectContaining(evidence) },
});

const say = (code: ReviewCode, resolution: Resolution, number = 1): ResolveReview<ReviewCode> => ({
  type: 'ResolveReview',
  code,
  number,
  resolution,
  reason: 'I asked them',
});
const open = (code: ReviewCode, evidence: Record<string, string | number> = {}): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence },
});
const ended = (code: ReviewCode, resolution: Resolution, number = 1): PaymentEvent => ({
  type: 'ReviewResolved',
  data: { code, number, resolution, reason: 'I asked them' },
});
const superseded = (code: ReviewCode): PaymentEvent => ({
  type: 'ReviewResolved',
  data: { code, number: 1, resolution: 'superseded', reason: 'the service showed something else' },
});
const found = (code: ReviewCode): PaymentEvent => ({
  type: 'ReviewResolved',
  data: { code, number: 1, resolution: 'found', reason: 'the service reported it later' },
});

const table: Record<ReviewCode, readonly Resolution[]> = {
  attempt_not_found: ['inquire_again'],
  final_status_revised: ['acknowledged'],
  refund_disagrees: ['inquire_again', 'acknowledged'],
  refund_unresolved: ['inquire_again', 'refund_made', 'refund_not_made'],
  second_payment_found: ['acknowledged'],
  service_not_readable: ['inquire_again', 'acknowledged'],
  only_here: ['inquire_again', 'acknowledged'],
  terms_disagree: ['inquire_again', 'acknowledged'],
  capture_unresolved: ['inquire_again'],
  unknown_status: ['inquire_again', 'acknowledged'],
  void_unresolved: ['inquire_again'],
};
/** Where the service does not show the payment at all, and its call has ended. */
const mayBeUnmade = (code: ReviewCode, phase: PaymentPhase): boolean =>
  code === 'attempt_not_found'
    ? phase === 'unresolved'
    : code === 'only_here' && !isFinalPhase(phase) && phase !== 'requested';

describe.each(reviewCodes)('%s', (code) => {
  test('has the ways out of the table, on a final payment', () => {
    expect(resolutionsOf(paymentAfter(historyTo.approved), { code, evidence: {} })).toEqual(table[code]);
  });

  test('has no more while a call is on its way, of which nobody knows the end', () => {
    expect(resolutionsOf(paymentAfter(historyTo.requested), { code, evidence: {} })).toEqual(table[code]);
  });

  test.each(paymentPhases.filter((phase) => !isFinalPhase(phase) && phase !== 'requested'))(
    'has one more in phase %s, where the service does not show the payment',
    (phase) => {
      const more = mayBeUnmade(code, phase) ? ['payment_not_made'] : [];
      expect(resolutionsOf(paymentAfter(historyTo[phase]), { code, evidence: {} })).toEqual([
        ...table[code],
        ...more,
      ]);
    },
  );

  test.each(paymentPhases)(
    'in phase %s every resolution but these is refused, and the refusal lists them',
    (phase) => {
      const history = [...historyTo[phase], open(code)];
      const allowed = resolutionsOf(paymentAfter(history), { code, evidence: {} });
      for (const resolution of resolutions.filter((each) => !allowed.includes(each)))
        expect(decide(fold(history), say(code, resolution))).toEqual({
          kind: 'refused',
          refusal: { code: 'resolution_not_allowed', allowed },
        });
    },
  );

  test('cannot be ended where it is not open', () => {
    for (const resolution of resolutions)
      given(historyTo.approved).when(say(code, resolution)).thenRefused('review_not_found');
    const other: ReviewCode = code === 'unknown_status' ? 'terms_disagree' : 'unknown_status';
    given([...historyTo.approved, open(other)])
      .when(say(code, 'inquire_again'))
      .thenRefused('review_not_found');
    for (const number of [0, 2, 3])
      given([...historyTo.approved, open(code), open(other)])
        .when(say(code, 'inquire_again', number))
        .thenRefused('review_not_found');
  });

  // Every resolution leads to events that can be applied: some once led where the machine allows no transition.
  test.each(paymentPhases)('in phase %s whatever is allowed leads somewhere', (phase) => {
    for (const alsoOpen of reviewCodes) {
      const history = [
        ...historyTo[phase],
        open(alsoOpen, { attemptNumber: 1 }),
        open(code, { attemptNumber: 1 }),
      ];
      for (const resolution of resolutionsOf(paymentAfter(history), { code, evidence: {} })) {
        const decision = decide(fold(history), say(code, resolution, 2));
        // The refund that it names is not there.
        const isAboutRefund = resolution === 'refund_made' || resolution === 'refund_not_made';
        expect(decision.kind).toBe(isAboutRefund ? 'refused' : 'events');
        if (decision.kind === 'events')
          expect(paymentAfter([...history, ...decision.events]).reviews).not.toContainEqual(
            expect.objectContaining({ code, number: 2 }),
          );
      }
    }
  });
});

test('a payment that was never requested has no review to resolve', () => {
  given([]).when(say('terms_disagree', 'acknowledged')).thenRefused('payment_not_found');
});

test.each(['acknowledged', 'inquire_again'] as const)(
  '%s resolves the review and changes nothing else',
  (resolution) => {
    const history = [...historyTo.pending, open('service_not_readable')];
    given(history)
      .when(say('service_not_readable', resolution))
      .then([ended('service_not_readable', resolution)]);
  },
);

// --- The payment was not made

const lostCard = [requested({ kind: 'card' }), sampleEvents.AttemptUnresolved];
const notFound = open('attempt_not_found', { attemptNumber: 1, providerOrderNumber: 'pay_1.1' });

test('a payment that the service never had has failed', () => {
  given([...lostCard, notFound])
    .when(say('attempt_not_found', 'payment_not_made'))
    .then([
      ended('attempt_not_found', 'payment_not_made'),
      { type: 'PaymentFailed', data: { reason: 'resolved' } },
    ]);
});

test.each(['init', 'pending', 'authorized', 'capturing', 'voiding'] as const)(
  'a payment in phase %s that the service had and undid is declined',
  (phase) => {
    given([...historyTo[phase], open('only_here')])
      .when(say('only_here', 'payment_not_made'))
      .then([
        ended('only_here', 'payment_not_made'),
        { type: 'PaymentDeclined', data: { declineReason: 'resolved_by_a_person' } },
      ]);
  },
);

// A second review that asked whether the payment was made once stayed open, and could end the payment a second time.
test('that the payment was not made resolves every review that asked', () => {
  given([...lostCard, open('service_not_readable'), notFound])
    .when(say('attempt_not_found', 'payment_not_made', 2))
    .then([
      ended('attempt_not_found', 'payment_not_made', 2),
      { type: 'PaymentFailed', data: { reason: 'resolved' } },
      found('service_not_readable'),
    ]);
  given([...historyTo.capturing, open('capture_unresolved'), open('only_here')])
    .when(say('only_here', 'payment_not_made', 2))
    .then([
      ended('only_here', 'payment_not_made', 2),
      { type: 'PaymentDeclined', data: { declineReason: 'resolved_by_a_person' } },
      found('capture_unresolved'),
    ]);
});

test('a payment that turns up after being resolved as not made is a revision, and opens a review', () => {
  const said = [...lostCard, notFound, ended('attempt_not_found', 'payment_not_made')];
  const history: PaymentEvent[] = [...said, { type: 'PaymentFailed', data: { reason: 'resolved' } }];
  expect(types(decided(history, inquired(observed('approved'))))).toEqual([
    'FinalStatusRevised',
    'ReviewOpened',
  ]);
});

// --- A lost attempt is found

const foundByInquiry = {
  type: 'RecordSearch',
  attemptNumber: 1,
  inquiredAt: attempt(1).quietUntil,
  found: [observed('approved')],
} as const;

test('a lost attempt that is found after all needs nobody any more', () => {
  const events = decided([...lostCard, notFound], foundByInquiry);
  expect(types(events)).toEqual(['AttemptAccepted', 'PaymentApproved', 'ReviewResolved']);
  expect(events.at(-1)).toEqual(found('attempt_not_found'));
});

// While the next attempt was under way, resolving the previous attempt could still end the payment.
test('a lost attempt that was refused at last needs nobody any more, and the next one calls for itself', () => {
  const next = attempt(2);
  const history = [...lostCard, notFound];
  const notSent = {
    type: 'RecordAuthorizationOutcome',
    attemptNumber: 1,
    nextAttempt: next,
    outcome: { kind: 'not-sent', reason: 'connection refused' },
  } as const;
  const events = decided(history, notSent);
  expect(types(events)).toEqual(['AttemptNotSent', 'AttemptStarted', 'ReviewResolved']);
  const lookup = { type: 'RecordSearch', attemptNumber: 2, found: [], inquiredAt: next.quietUntil } as const;
  expect(decided([...history, ...events], lookup).at(-1)).toEqual(
    opened('attempt_not_found', { attemptNumber: 2, providerOrderNumber: 'pay_1.2' }),
  );
});

test('after inquire_again, what is still not found opens another review', () => {
  const history = [...lostCard, notFound, ended('attempt_not_found', 'inquire_again')];
  given(history)
    .when({ ...foundByInquiry, found: [] })
    .then([opened('attempt_not_found', { attemptNumber: 1 })]);
});

// --- It takes two persons

test.each([
  ['attempt_not_found', 'payment_not_made', historyTo.unresolved],
  ['terms_disagree', 'acknowledged', historyTo.init],
] as const)('%s ends only when a second person agrees', (code, resolution, before) => {
  const history = [...before, open(code)];
  const by = (name: string) => ({ ...say(code, resolution), proposer: { name, at: 5 } });
  const first = decided(history, by('ada'));
  expect(types(first)).toEqual(['ReviewResolutionProposed']);
  const proposed = [...history, ...first];
  expect(paymentAfter(proposed)).toMatchObject({ phase: paymentAfter(history).phase, reviews: [{ code }] });
  expect(decided(proposed, by('ada'))).toEqual([]);
  const second = decided(proposed, by('bob'));
  expect(second).toEqual(decided(history, say(code, resolution)));
  expect(paymentAfter([...proposed, ...second]).reviews).toEqual([]);
});

test('what is not allowed is refused to the first of two persons', () => {
  given([...historyTo.approved, open('attempt_not_found')])
    .when({ ...say('attempt_not_found', 'payment_not_made'), proposer: { name: 'ada', at: 5 } })
    .thenRefused('resolution_not_allowed');
});

// Ada had said that it was not made, and then it was found: nobody may agree with her any more.
test('what is found out ends the review, whatever one of two persons has answered', () => {
  const answer = {
    ...say('attempt_not_found', 'payment_not_made'),
    proposer: { name: 'ada', at: 5 },
  } as const;
  const history = [...lostCard, notFound];
  const proposed = [...history, ...decided(history, answer)];
  const after = [...proposed, ...decided(proposed, foundByInquiry)];
  expect(paymentAfter(after)).toMatchObject({ phase: 'approved', reviews: [] });
  given(after)
    .when({ ...answer, proposer: { name: 'bob', at: 6 } })
    .thenRefused('review_not_found');
});

// --- The service shows it under another amount

// The service declined the payment and then approved it with another amount, before anybody inquired. Nothing was taken
// over from it, and no resolution could: a paid payment stayed `init` for ever.
describe('a payment that the service shows with another amount', () => {
  const shows900 = inquired(observed('approved', { amount: 900 }));
  const disagreeing = [...historyTo.init, ...decided(historyTo.init, shows900)];
  const applied: PaymentEvent[] = [...disagreeing, ended('terms_disagree', 'observed_terms_apply')];
  const stays = (history: readonly PaymentEvent[]) =>
    given(history).when(say('terms_disagree', 'observed_terms_apply')).thenRefused('resolution_not_allowed');

  test('is of that amount once a person says so; its status follows by the next inquiry', () => {
    given(disagreeing)
      .when(say('terms_disagree', 'observed_terms_apply'))
      .then([ended('terms_disagree', 'observed_terms_apply')]);
    expect(paymentAfter(applied)).toMatchObject({ phase: 'init', terms: { amount: 900 }, reviews: [] });
    const [approval] = decided(applied, shows900);
    expect(approval).toEqual({ type: 'PaymentApproved', data: { amount: 900 } });
  });

  test('opens another review where it shows yet another one by then', () => {
    given(applied)
      .when(inquired(observed('approved', { amount: 800 })))
      .then([opened('terms_disagree', { amount: 900, observedAmount: 800 })]);
  });

  // What had been taken over once counted as acknowledged: back at the first amount, nobody was asked, and it stayed `init`.
  test('opens a review again where it goes back and forth', () => {
    const showsFirst = inquired(observed('approved'));
    const back = [
      ...applied,
      ...decided(applied, showsFirst),
      ended('terms_disagree', 'observed_terms_apply', 2),
    ];
    expect(paymentAfter(back)).toMatchObject({ phase: 'init', terms: { amount: 1000 }, reviews: [] });
    expect(decided(back, shows900)).toMatchObject([{ type: 'ReviewOpened' }]);
  });

  test.each(['pending', 'authorized', 'capturing', 'voiding'] as const)('may be in phase %s', (phase) => {
    const history = [...historyTo[phase], open('terms_disagree', { observedAmount: 900 })];
    const after = paymentAfter([
      ...history,
      ...decided(history, say('terms_disagree', 'observed_terms_apply')),
    ]);
    expect(after).toMatchObject({ phase, terms: { amount: 900 } });
  });

  test.each<[string, Record<string, string | number>]>([
    ['another currency', { observedAmount: 900, observedCurrency: 'USD' }],
    ["another attempt's number", { observedAmount: 900, observedOrderNumber: 'pay_1.2' }],
    ['a payment beside ours', { observedAmount: 900, observedServiceToken: 'token-b' }],
    ['a refund', { observedAmount: 200, serviceRefundToken: 'service-refund-1' }],
    ['no amount', {}],
    ['an amount that is none', { observedAmount: 0.5 }],
    ['the amount that was asked for', { observedAmount: 1000, observedRefundedAmount: -1 }],
  ])('stays as it is where the evidence is about %s', (_, evidence) => {
    stays([...historyTo.init, open('terms_disagree', evidence)]);
  });

  const unpaid = paymentPhases.filter(
    (phase) => isFinalPhase(phase) && phase !== 'approved' && phase !== 'refunded',
  );
  test.each(['requested', 'unresolved', ...unpaid] as const)('stays as it is in phase %s', (phase) =>
    stays([...historyTo[phase], open('terms_disagree', { observedAmount: 900 })]),
  );

  // The provider revised it twice between two inquiries, to another amount: it counted with the first one for ever.
  test('is of that amount from the answer on where it is approved already, and what went back of it counts', () => {
    const shows = inquired(observed('approved', { amount: 600, refundedAmount: 100 }));
    const history = [...historyTo.approved, ...decided(historyTo.approved, shows)];
    const answered = [...history, ...decided(history, say('terms_disagree', 'observed_terms_apply'))];
    expect(types(answered.slice(history.length))).toEqual([
      ...['ReviewResolved', 'FinalStatusRevised', 'ExternalRefundObserved'],
    ]);
    expect(paymentAfter(answered)).toMatchObject({
      ...{ phase: 'approved', approvedAmount: 600, refundedAmount: 100, reviews: [] },
    });
    expect(decided(answered, shows)).toEqual([]);
  });

  test('is refunded where all of that amount has gone back', () => {
    const shows = inquired(observed('refunded', { amount: 600, refundedAmount: 600 }));
    const history = [...historyTo.approved, ...decided(historyTo.approved, shows)];
    const answered = [...history, ...decided(history, say('terms_disagree', 'observed_terms_apply'))];
    expect(paymentAfter(answered)).toMatchObject({ phase: 'refunded', approvedAmount: 600 });
    expect(decided(answered, shows)).toEqual([]);
  });

  test('is refunded where all of that amount had gone back before', () => {
    const refunded: PaymentEvent[] = [
      ...historyTo.approved,
      { type: 'ExternalRefundObserved', data: { amount: 300 } },
    ];
    const shows = inquired(observed('refunded', { amount: 300, refundedAmount: 300 }));
    const history = [...refunded, ...decided(refunded, shows)];
    const answered = [...history, ...decided(history, say('terms_disagree', 'observed_terms_apply'))];
    expect(paymentAfter(answered)).toMatchObject({ phase: 'refunded', approvedAmount: 300, reviews: [] });
    expect(decided(answered, shows)).toEqual([]);
  });

  test('stays as it is where it is shown with another amount, and not as paid', () =>
    stays([
      ...historyTo.approved,
      open('terms_disagree', {
        observedStatus: 'declined',
        observedAmount: 900,
        observedAuthorizedAmount: 950,
      }),
    ]));

  test.each([300.5, -1, 2_000])('stays as it is where %d of it is shown as given back', (refundedAmount) => {
    const shows = inquired(observed('approved', { amount: 1_200, refundedAmount }));
    stays([...historyTo.approved, ...decided(historyTo.approved, shows)]);
  });

  // It was forgotten with the answer for the three days that a refund has: 300 that were gone could be paid out.
  test.each([50, 100, 300])('keeps that %d are shown as given back while a refund is under way', (shown) => {
    const shows = inquired(observed('approved', { amount: 600, refundedAmount: shown }));
    const doubted = [...historyTo.approved, ...decided(historyTo.approved, shows)];
    const submitted = [...doubted, refundSubmitted('refund-1', 100)];
    given(submitted)
      .when(say('terms_disagree', 'observed_terms_apply'))
      .thenRefused('resolution_not_allowed');
    const over: PaymentEvent = {
      type: 'RefundDeclined',
      data: { refundToken: 'refund-1', errors: [], reason: 'declined' },
    };
    expect(types(decided([...submitted, over], say('terms_disagree', 'observed_terms_apply')))).toEqual([
      'ReviewResolved',
      'FinalStatusRevised',
      'ExternalRefundObserved',
      // Of just its amount it may be that one after all.
      ...(shown === 100 ? ['ReviewOpened'] : []),
    ]);
  });

  test('may be of that amount while a refund is under way, where nothing is shown as given back', () => {
    const submitted = [...historyTo.approved, refundSubmitted('refund-1', 100)];
    const history = [...submitted, ...decided(submitted, inquired(observed('approved', { amount: 600 })))];
    expect(types(decided(history, say('terms_disagree', 'observed_terms_apply')))).toEqual([
      ...['ReviewResolved', 'FinalStatusRevised'],
    ]);
  });
});

// It ended with the question, before the service had answered: its team was told that it was declined.
test.each(['terms_disagree', 'unknown_status', 'only_here'] as const)(
  '%s stays in review after inquire_again, until the service has answered',
  (code) => {
    const evidence = { observedStatus: 'processing', observedCurrency: 'USD' };
    const history = [...historyTo.declined, open(code, evidence)];
    const asked = [...history, ...decided(history, say(code, 'inquire_again'))];
    for (const events of [history, asked]) expect(mayBePaid(paymentAfter(events))).toBe(code !== 'only_here');
    expect(paymentAfter(asked).reviews).toMatchObject([{ code, number: 2, evidence }]);
    const answered = decided(asked, inquired(observed('declined')));
    expect(answered).toEqual([{ ...found(code), data: { ...found(code).data, number: 2 } }]);
  },
);

// --- Refunds

const unresolvedRefund: PaymentEvent[] = [
  ...historyTo.approved,
  refundSubmitted('refund-0', 100),
  { type: 'RefundDeclined', data: { refundToken: 'refund-0', errors: [], reason: 'declined' } },
  refundSubmitted('refund-1', 300),
  { type: 'RefundUnresolved', data: { refundToken: 'refund-1', reason: 'timeout' } },
  open('refund_unresolved', { refundToken: 'refund-1' }),
];

test('a refund resolved as made is approved, and counts', () => {
  const events: PaymentEvent[] = [
    ended('refund_unresolved', 'refund_made'),
    { type: 'RefundApproved', data: { refundToken: 'refund-1' } },
  ];
  given(unresolvedRefund).when(say('refund_unresolved', 'refund_made')).then(events);
  expect(paymentAfter([...unresolvedRefund, ...events])).toMatchObject({
    refundedAmount: 300,
    reviews: [],
  });
});

test('a refund resolved as not made is declined, and its reservation released', () => {
  const events: PaymentEvent[] = [
    ended('refund_unresolved', 'refund_not_made'),
    { type: 'RefundDeclined', data: { refundToken: 'refund-1', errors: [], reason: 'resolved' } },
  ];
  given(unresolvedRefund).when(say('refund_unresolved', 'refund_not_made')).then(events);
  const after = paymentAfter([...unresolvedRefund, ...events]);
  expect(reservedAmount(after)).toBe(0);
  expect(after.refunds[1]?.declined).toEqual({ reason: 'resolved', errors: [] });
});

test.each([
  ['refund_made', 500, ['RefundApproved', 'ExternalRefundObserved']],
  ['refund_not_made', 500, ['RefundDeclined', 'ExternalRefundObserved']],
  ['refund_made', 1_001, ['RefundApproved']],
  ['refund_not_made', 0, ['RefundDeclined']],
] as const)(
  '%s takes over what else is shown as given back, where it can be: %j',
  (resolution, shown, expected) => {
    const review = open('refund_unresolved', { refundToken: 'refund-1', observedRefundedAmount: shown });
    const history = [...unresolvedRefund.slice(0, -1), review];
    expect(types(decided(history, say('refund_unresolved', resolution))).slice(1)).toEqual(expected);
  },
);

test('a full refund resolved as made makes the payment refunded', () => {
  const full: PaymentEvent[] = [
    ...historyTo.approved,
    refundSubmitted('refund-1', 1000),
    { type: 'RefundUnresolved', data: { refundToken: 'refund-1', reason: 'timeout' } },
    open('refund_unresolved', { refundToken: 'refund-1' }),
  ];
  const decision = decide(fold(full), say('refund_unresolved', 'refund_made'));
  if (decision.kind === 'events') expect(paymentAfter([...full, ...decision.events]).phase).toBe('refunded');
  expect(decision.kind).toBe('events');
});

// A word about the refund before once ended the refund that was under way.
test('a word about a refund is about the refund of the evidence, and counts while it is undecided only', () => {
  const next = [
    ...unresolvedRefund.slice(0, -1),
    open('refund_unresolved', { refundToken: 'refund-0' }),
    open('refund_unresolved', { refundToken: 'refund-1' }),
  ];
  for (const resolution of ['refund_made', 'refund_not_made'] as const) {
    given(next)
      .when(say('refund_unresolved', resolution, 1))
      .thenRefused('review_not_found');
    expect(decided(next, say('refund_unresolved', resolution, 2)).slice(0, 2)).toMatchObject([
      ended('refund_unresolved', resolution, 2),
      { data: { refundToken: 'refund-1' } },
    ]);
  }
});

test('of several second payments each is resolved for itself', () => {
  const both = [
    ...historyTo.approved,
    open('second_payment_found', { serviceToken: 'token-b' }),
    open('second_payment_found', { serviceToken: 'token-c' }),
  ];
  const spoken = say('second_payment_found', 'acknowledged', 2);
  given(both)
    .when(spoken)
    .then([ended('second_payment_found', 'acknowledged', 2)]);
  const after = paymentAfter([...both, ...decided(both, spoken)]);
  expect(after.reviews.map(({ evidence }) => evidence['serviceToken'])).toEqual(['token-b']);
  expect(after.acknowledged.map(({ evidence }) => evidence['serviceToken'])).toEqual(['token-c']);
});

// --- Acknowledged reviews

test('an acknowledged review is not opened again by the same evidence, and is by other evidence', () => {
  const first = inquired(observed('approved', { amount: 1 }));
  const raisedOnce = [...historyTo.init, ...decided(historyTo.init, first)];
  const seen = [...raisedOnce, ended('terms_disagree', 'acknowledged')];
  given(seen).when(first).thenNothing();
  given(seen)
    .when(inquired(observed('approved', { amount: 2 })))
    .then([superseded('terms_disagree'), opened('terms_disagree', { observedAmount: 2 })]);
  given([...raisedOnce, ended('terms_disagree', 'inquire_again')])
    .when(first)
    .then([opened('terms_disagree', { observedAmount: 1 })]);
});

// The payment was missing, and a person said that it was undone: the next inquiry must not ask the same again.
test('what a person has ended stays known, and what the service shows ends it', () => {
  const missing: PaymentInput = { type: 'RecordMissing', serviceToken: 'token-a', inquiredAt: 0 };
  const asked = [...historyTo.pending, ...decided(historyTo.pending, missing)];
  const unmade = [...asked, ...decided(asked, say('only_here', 'payment_not_made'))];
  expect(paymentAfter(unmade).phase).toBe('declined');
  given(unmade).when(missing).thenNothing();
  const seen = [...asked, ended('only_here', 'acknowledged')];
  given(seen).when(missing).thenNothing();
  const shown = [...seen, ...decided(seen, inquired(observed('approved')))];
  given(shown)
    .when(missing)
    .then([opened('only_here')]);
});

const needsReview = ({ type }: PaymentEvent): boolean => type === 'ReviewOpened';

// The second of two identical revisions was once recorded without a review.
test('each revision opens a review, even if one like it was acknowledged', () => {
  const revise = (status: string, before: readonly PaymentEvent[]): readonly PaymentEvent[] => [
    ...before,
    ...decided(before, inquired(observed(status))),
    ended('final_status_revised', 'acknowledged', before.some(needsReview) ? 2 : 1),
  ];
  const thereAndBack = revise('approved', revise('declined', historyTo.approved));
  expect(types(decided(thereAndBack, inquired(observed('declined'))))).toEqual([
    'FinalStatusRevised',
    'ReviewOpened',
  ]);
});
