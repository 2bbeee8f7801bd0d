import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  decided,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  refundSubmitted,
  requested,
  sampleEvents,
} from '../../testing/samples.ts';
import type { ObservedPayment } from './payment-commands.ts';
import type { ReviewCode, PaymentEvent } from './payment-events.ts';
import { isFinalPhase, paymentPhases, statusOfPhase, type PaymentPhase } from './payment-machine.ts';
import { resolvedByAPerson } from '../review.ts';
import { mayBePaid } from './creation.ts';

const { given } = scenario(paymentDomain);

const observe = (history: readonly PaymentEvent[], picture: ObservedPayment) =>
  decided(history, inquired(picture));

const approved: PaymentEvent = { type: 'PaymentApproved', data: { amount: 1000 } };
const declined: PaymentEvent = { type: 'PaymentDeclined', data: {} };
const voided: PaymentEvent = { type: 'PaymentVoided', data: {} };
const expired: PaymentEvent = { type: 'PaymentExpired', data: {} };
const pending: PaymentEvent = { type: 'PaymentPending', data: {} };
const authorized: PaymentEvent = { type: 'PaymentAuthorized', data: { authorizedAmount: 1000 } };
const refunded = (amount: number): PaymentEvent => ({ type: 'ExternalRefundObserved', data: { amount } });

type FinalStatus = 'approved' | 'declined' | 'expired' | 'refunded';
const revised = (from: FinalStatus, to: FinalStatus, data: object = {}): object[] => [
  { type: 'FinalStatusRevised', data: { from, to, ...data } },
  {
    type: 'ReviewOpened',
    data: { code: 'final_status_revised', evidence: { from, to, observedAmount: 1000 } },
  },
];
// A failed payment never had a token; the first that turns up is kept, to distinguish it from a second.
const found = { serviceToken: 'token-a' };

type Picture = 'init' | 'pending' | 'pending, authorized' | FinalStatus;
const pictures: Record<Picture, ObservedPayment> = {
  init: observed('init'),
  pending: observed('pending'),
  'pending, authorized': observed('pending', { authorizedAmount: 1000 }),
  approved: observed('approved'),
  declined: observed('declined'),
  refunded: observed('refunded', { refundedAmount: 1000 }),
  expired: observed('expired'),
};

const nothing = {
  ...{
    init: [],
    pending: [],
    'pending, authorized': [],
    approved: [],
    declined: [],
    refunded: [],
    expired: [],
  },
};
const outcomes = {
  approved: [approved],
  declined: [declined],
  refunded: [approved, refunded(1000)],
  expired: [expired],
};

/** What each picture of the service makes of a payment in each phase. */
const table: Record<PaymentPhase, Record<Picture, readonly object[]>> = {
  requested: nothing,
  unresolved: nothing,
  init: { ...outcomes, init: [], pending: [pending], 'pending, authorized': [authorized] },
  pending: { ...outcomes, init: [], pending: [], 'pending, authorized': [authorized] },
  authorized: { ...outcomes, init: [], pending: [], 'pending, authorized': [] },
  capturing: { ...outcomes, init: [], pending: [], 'pending, authorized': [] },
  voiding: { ...outcomes, declined: [voided], init: [], pending: [], 'pending, authorized': [] },
  approved: {
    ...nothing,
    declined: revised('approved', 'declined'),
    refunded: [refunded(1000)],
    expired: revised('approved', 'expired'),
  },
  declined: {
    ...nothing,
    approved: revised('declined', 'approved', { amount: 1000 }),
    refunded: revised('declined', 'refunded', { amount: 1000 }).concat(refunded(1000)),
    expired: revised('declined', 'expired'),
  },
  voided: {
    ...nothing,
    approved: revised('declined', 'approved', { amount: 1000 }),
    refunded: revised('declined', 'refunded', { amount: 1000 }).concat(refunded(1000)),
    expired: revised('declined', 'expired'),
  },
  refunded: {
    ...nothing,
    declined: revised('refunded', 'declined'),
    expired: revised('refunded', 'expired'),
  },
  expired: {
    ...nothing,
    approved: revised('expired', 'approved', { amount: 1000 }),
    declined: revised('expired', 'declined'),
    refunded: revised('expired', 'refunded', { amount: 1000 }).concat(refunded(1000)),
  },
  failed: {
    ...nothing,
    approved: revised('declined', 'approved', { amount: 1000, ...found }),
    refunded: revised('declined', 'refunded', { amount: 1000, ...found }).concat(refunded(1000)),
    expired: revised('declined', 'expired', found),
  },
};

describe.each(paymentPhases)('in phase %s', (phase) => {
  test.each(Object.keys(pictures) as Picture[])(
    'the picture "%s" gives the events of the table',
    (picture) => {
      expect(observe(historyTo[phase], pictures[picture])).toEqual(table[phase][picture]);
    },
  );

  test('an observation of another payment opens a review and books nothing', () => {
    const { serviceToken } = paymentAfter(historyTo[phase]);
    const types = observe(historyTo[phase], observed('init', { serviceToken: 'token-b' })).map(
      ({ type }) => type,
    );
    expect(types).toEqual(serviceToken === undefined ? [] : ['ReviewOpened']);
  });

  const awaitsCall = phase === 'requested' || phase === 'unresolved';

  test('a status that the specification does not know opens a review', () => {
    const evidence = {
      ...{ observedStatus: 'odd', observedAmount: 1000, observedAuthorizedAmount: 0 },
      ...{ observedRefundedAmount: 0, observedCurrency: 'EUR', observedServiceToken: 'token-a' },
    };
    const calls = [{ type: 'ReviewOpened', data: { code: 'unknown_status', evidence } }];
    expect(observe(historyTo[phase], observed('odd'))).toEqual(awaitsCall ? [] : calls);
  });
});

test('an unknown status is evidence up to a length', () => {
  const [opened] = observe(historyTo.init, observed('x'.repeat(10_000)));
  expect(opened?.data).toMatchObject({ evidence: { observedStatus: 'x'.repeat(256) } });
});

/** What the service showed before is over. */
const doubtEnded = (code: ReviewCode): PaymentEvent => ({
  type: 'ReviewResolved',
  data: { code, number: 1, resolution: 'found', reason: 'the service reported it later' },
});

test.each(['only_here', 'terms_disagree', 'unknown_status'] as const)(
  '%s is resolved once the payment is shown as agreed, and by no other observation',
  (code) => {
    const opened: PaymentEvent = { type: 'ReviewOpened', data: { code, evidence: {} } };
    for (const [history, status] of [
      [historyTo.pending, 'pending'],
      [historyTo.approved, 'approved'],
    ] as const) {
      expect(observe([...history, opened], observed(status))).toEqual([doubtEnded(code)]);
      for (const picture of [observed('odd'), observed(status, { amount: 1 })])
        expect(observe([...history, opened], picture)).not.toContainEqual(doubtEnded(code));
    }
  },
);

test('a status that becomes known after an unknown one is booked', () => {
  const history = [...historyTo.init, ...observe(historyTo.init, observed('odd'))];
  expect(observe(history, observed('approved'))).toEqual([approved, doubtEnded('unknown_status')]);
});

// --- What a picture carries along

const sanitizedMask = '439296******1251';

test('mask, reason and amounts of the picture are recorded', () => {
  const data = { sanitizedMask };
  const history = historyTo.init;
  expect(observe(history, observed('approved', data))[0]?.data).toEqual({ amount: 1000, ...data });
  expect(observe(history, observed('pending', { authorizedAmount: 600, ...data }))[0]?.data).toEqual({
    authorizedAmount: 600,
    ...data,
  });
  const declineReason = 'do_not_honor';
  expect(observe(history, observed('declined', { declineReason, ...data }))[0]?.data).toEqual({
    declineReason,
    ...data,
  });
});

test('the reason of a revision is recorded', () => {
  const [revision] = observe(historyTo.approved, observed('declined', { declineReason: 'fraud' }));
  expect(revision?.data).toEqual({ from: 'approved', to: 'declined', declineReason: 'fraud' });
});

test('texts of the service are cut, not refused', () => {
  const long = 'x'.repeat(10_000);
  const [event] = observe(historyTo.init, observed('declined', { declineReason: long, sanitizedMask: long }));
  expect(event?.data).toEqual({ declineReason: 'x'.repeat(4096), sanitizedMask: 'x'.repeat(4096) });
});

// --- Disagreement

const disagreements: [string, Partial<ObservedPayment>, object][] = [
  ['a greater amount', { amount: 1001 }, { amount: 1000, observedAmount: 1001 }],
  ['a smaller amount', { amount: 999 }, { amount: 1000, observedAmount: 999 }],
  ['another currency', { currency: 'USD' }, { currency: 'EUR', observedCurrency: 'USD' }],
  [
    'another order number',
    { orderNumber: 'pay_1.2' },
    { providerOrderNumber: 'pay_1.1', observedOrderNumber: 'pay_1.2' },
  ],
  ['more refunded than was paid', { refundedAmount: 1001 }, { observedRefundedAmount: 1001 }],
  ['a negative refund', { refundedAmount: -1 }, { observedRefundedAmount: -1 }],
  ['a fraction refunded', { refundedAmount: 0.5 }, { observedRefundedAmount: 0.5 }],
  ['more authorized than requested', { authorizedAmount: 1001 }, { observedAuthorizedAmount: 1001 }],
  ['a fraction authorized', { authorizedAmount: 999.5 }, { observedAuthorizedAmount: 999.5 }],
];

describe.each(disagreements)('%s', (_, changes, evidence) => {
  const calls = [
    {
      type: 'ReviewOpened',
      data: {
        code: 'terms_disagree',
        evidence: expect.objectContaining({ ...evidence, observedServiceToken: 'token-a' }),
      },
    },
  ];

  test.each(['init', 'pending', 'authorized', 'capturing', 'voiding'] as const)(
    'is not booked in phase %s and opens a review',
    (phase) => {
      for (const status of ['init', 'pending', 'approved', 'declined', 'refunded', 'expired'])
        expect(observe(historyTo[phase], observed(status, changes))).toEqual(calls);
    },
  );

  test('is not booked on an approved payment', () => {
    for (const status of ['approved', 'refunded'])
      expect(observe(historyTo.approved, observed(status, changes))).toEqual(calls);
  });

  // While the review was open, the second inquiry once booked the wrong amount.
  test('is not booked by a second inquiry either, whatever it shows', () => {
    const history = [...historyTo.init, ...observe(historyTo.init, observed('init', changes))];
    for (const status of ['pending', 'approved', 'declined', 'refunded', 'expired'])
      for (const event of observe(history, observed(status, changes))) expect(event.type).toMatch(/^Review/);
  });
});

// Its evidence stayed as it was first shown: declined then, and approved since, its team was told to send another request.
test.each(['unknown_status', 'terms_disagree'] as const)(
  'a review of %s shows what was seen last',
  (code) => {
    const changes = code === 'terms_disagree' ? { amount: 999, currency: 'USD' } : {};
    const [first, last] = code === 'terms_disagree' ? ['declined', 'approved'] : ['lost', 'odd'];
    const history = [...historyTo.declined, ...observe(historyTo.declined, observed(first, changes))];
    const later = [...history, ...observe(history, observed(last, changes))];
    expect(paymentAfter(later).reviews).toMatchObject([{ code, evidence: { observedStatus: last } }]);
    expect(observe(later, observed(last, changes))).toEqual([]);
  },
);

test('a picture without an order number agrees', () => {
  const { orderNumber: _, ...picture } = observed('approved');
  expect(observe(historyTo.init, picture)).toEqual([approved]);
});

test('after the disagreement has gone, the status is booked and nobody is needed any more', () => {
  const history = [...historyTo.init, ...observe(historyTo.init, observed('init', { amount: 1 }))];
  expect(observe(history, observed('approved'))).toEqual([approved, doubtEnded('terms_disagree')]);
  expect(paymentAfter(history).reviews.map(({ code }) => code)).toEqual(['terms_disagree']);
});

test('the amount that is compared is the one of the latest attempt', () => {
  const second: PaymentEvent[] = [
    ...[...historyTo.unresolved, sampleEvents.AttemptNotFound, sampleEvents.AttemptStarted],
    { type: 'AttemptAccepted', data: { attemptNumber: 2, serviceToken: 'token-b', evidence: 'answer' } },
  ];
  const picture = { serviceToken: 'token-b', orderNumber: 'pay_1.2' };
  expect(observe(second, observed('approved', picture))).toEqual([approved]);
});

// --- Revisions

test('an operator may approve a declined payment later with another amount', () => {
  expect(observe(historyTo.declined, observed('approved', { amount: 500 }))).toEqual([
    { type: 'FinalStatusRevised', data: { from: 'declined', to: 'approved', amount: 500 } },
    {
      type: 'ReviewOpened',
      data: {
        code: 'final_status_revised',
        evidence: { from: 'declined', to: 'approved', observedAmount: 500 },
      },
    },
  ]);
});

test.each([0, -5, 0.5])('a revision to an amount of %d is none', (amount) => {
  const events = observe(historyTo.declined, observed('approved', { amount }));
  expect(events.map(({ type, data }) => [type, 'code' in data && data.code])).toEqual([
    ['ReviewOpened', 'terms_disagree'],
  ]);
});

test('after a revision the new amount is the one that pictures must agree with', () => {
  const history = [
    ...historyTo.declined,
    ...observe(historyTo.declined, observed('approved', { amount: 500 })),
  ];
  expect(paymentAfter(history)).toMatchObject({ phase: 'approved', approvedAmount: 500 });
  expect(observe(history, observed('approved', { amount: 500 }))).toEqual([]);
  expect(observe(history, observed('approved', { amount: 500, refundedAmount: 200 }))).toEqual([
    refunded(200),
  ]);
  expect(observe(history, observed('approved', { amount: 1000 })).map(({ type }) => type)).toEqual([
    'ReviewOpened',
  ]);
});

// The refund of a revised payment was once found by a second inquiry only, and none is due for a final payment.
test('a revision brings the refunds along', () => {
  const picture = observed('approved', { amount: 500, refundedAmount: 200 });
  const events = observe(historyTo.declined, picture);
  expect(events.map(({ type }) => type)).toEqual([
    'FinalStatusRevised',
    'ReviewOpened',
    'ExternalRefundObserved',
  ]);
  expect(paymentAfter([...historyTo.declined, ...events])).toMatchObject({
    approvedAmount: 500,
    refundedAmount: 200,
  });
});

// The review of the first one stayed, with its evidence: the person who resolved it accepted what it did not show.
test('revisions there and back are all recorded, and the review is about the last', () => {
  const back = [...historyTo.approved, ...observe(historyTo.approved, observed('declined'))];
  const events = observe(back, observed('approved'));
  expect(events).toEqual([
    { type: 'FinalStatusRevised', data: { from: 'declined', to: 'approved', amount: 1000 } },
    {
      type: 'ReviewResolved',
      data: {
        ...{ code: 'final_status_revised', number: 1, resolution: 'superseded' },
        reason: 'the service showed something else',
      },
    },
    {
      type: 'ReviewOpened',
      data: {
        code: 'final_status_revised',
        evidence: { from: 'declined', to: 'approved', observedAmount: 1000 },
      },
    },
  ]);
  expect(paymentAfter([...back, ...events])).toMatchObject({
    ...{ phase: 'approved', reviews: [{ number: 2, evidence: { to: 'approved' } }], acknowledged: [] },
  });
});

// The token of a payment that turned up after its failure was once forgotten: a second one would have passed for it.
test('a failed payment that turns up approved is known by its token from then on', () => {
  const history = [...historyTo.failed, ...observe(historyTo.failed, observed('approved'))];
  expect(paymentAfter(history).serviceToken).toBe('token-a');
  expect(observe(history, observed('approved', { serviceToken: 'token-b' }))).toEqual([
    {
      type: 'ReviewOpened',
      data: {
        code: 'second_payment_found',
        evidence: {
          ...{ attemptNumber: 1, serviceToken: 'token-b', knownServiceToken: 'token-a' },
          ...{ observedStatus: 'approved', observedAuthorizedAmount: 0 },
        },
      },
    },
  ]);
});

// --- Money of a payment that has ended

// A payment had expired, and the customer authorized it after all: no review was opened, and nobody could void it.
test.each(['declined', 'voided', 'expired'] as const)(
  'money that is held of a payment that is %s opens a review, once it cannot be an older picture',
  (phase) => {
    const held = (inquiredAt: number) =>
      inquired(observed('pending', { authorizedAmount: 1000 }), { changedAt: 1_000, inquiredAt });
    const halfAnHour = 30 * 60_000;
    given(historyTo[phase])
      .when(held(1_000 + halfAnHour - 1))
      .thenNothing();
    const events = decided(historyTo[phase], held(1_000 + halfAnHour));
    expect(events).toEqual([
      {
        type: 'ReviewOpened',
        data: {
          code: 'final_status_revised',
          evidence: {
            ...{ from: statusOfPhase(phase), to: 'pending', observedAuthorizedAmount: 1000 },
            observedServiceToken: 'token-a',
          },
        },
      },
    ]);
    const seen: PaymentEvent = {
      type: 'ReviewResolved',
      data: { code: 'final_status_revised', number: 1, resolution: 'acknowledged', reason: 'voided there' },
    };
    given([...historyTo[phase], ...events, seen])
      .when(held(2 * halfAnHour))
      .thenNothing();
  },
);

// It was declined here for good, and its team asked the customer once more, who had paid.
test.each(['declined', 'expired'] as const)(
  'what is %s here and is under way at the service is in review, once that cannot be an older picture',
  (phase) => {
    const shown = (status: string, inquiredAt: number) => inquired(observed(status), { inquiredAt });
    given(historyTo[phase])
      .when(shown('pending', 30 * 60_000 - 1))
      .thenNothing();
    const again = [...historyTo[phase], ...decided(historyTo[phase], shown('pending', 30 * 60_000))];
    expect(paymentAfter(again).reviews).toMatchObject([
      { code: 'final_status_revised', evidence: { to: 'pending' } },
    ]);
    expect(mayBePaid(paymentAfter(again))).toBe(true);
    given(historyTo[phase])
      .when(shown('init', 10 * 3_600_000))
      .thenNothing();
  },
);

// An approval was taken back into an open status: it counted as paid for ever, and nobody was asked.
test.each(['approved', 'refunded'] as const)(
  'what is %s here and open at the service is in review, once that cannot be an older picture',
  (phase) => {
    for (const status of ['init', 'pending']) {
      const shown = (inquiredAt: number) => inquired(observed(status), { inquiredAt });
      given(historyTo[phase])
        .when(shown(30 * 60_000 - 1))
        .thenNothing();
      given(historyTo[phase])
        .when(shown(30 * 60_000))
        .then([
          {
            type: 'ReviewOpened',
            data: {
              code: 'final_status_revised',
              evidence: {
                ...{ from: phase, to: status, observedAuthorizedAmount: 0 },
                observedServiceToken: 'token-a',
              },
            },
          },
        ]);
    }
  },
);

// A person called it not made, and its page could be paid on: its team asked the customer once more.
test('what a person called not made, and is open at the service, is in review', () => {
  const declined: PaymentEvent = { type: 'PaymentDeclined', data: { declineReason: resolvedByAPerson } };
  const history = [...historyTo.init, declined];
  const shown = decided(history, inquired(observed('init'), { inquiredAt: 30 * 60_000 }));
  expect(shown).toMatchObject([{ data: { code: 'final_status_revised', evidence: { to: 'init' } } }]);
  expect(decided(historyTo.declined, inquired(observed('init'), { inquiredAt: 30 * 60_000 }))).toEqual([]);
});

const acknowledged = (code: ReviewCode): PaymentEvent => ({
  type: 'ReviewResolved',
  data: { code, number: 1, resolution: 'acknowledged', reason: 'seen' },
});
const openAgain = inquired(observed('pending'), { inquiredAt: 30 * 60_000 });
const inReview = [...historyTo.approved, ...decided(historyTo.approved, openAgain)];

test('that review is over once the service shows it as on record, and it is asked about again', () => {
  for (const asked of [inReview, [...inReview, acknowledged('final_status_revised')]]) {
    const back = [...asked, ...observe(asked, observed('approved'))];
    expect(paymentAfter(back)).toMatchObject({ reviews: [], acknowledged: [] });
    expect(observe(back, observed('approved'))).toEqual([]);
    expect(decided(back, openAgain)).toMatchObject([{ data: { code: 'final_status_revised' } }]);
  }
});

test('that review is over by a revision as well, acknowledged or not, and is ended once', () => {
  for (const asked of [inReview, [...inReview, acknowledged('final_status_revised')]]) {
    const revised = observe(asked, observed('declined'));
    expect(revised.map(({ type }) => type).toSorted()).toEqual([
      ...['FinalStatusRevised', 'ReviewOpened', 'ReviewResolved'],
    ]);
    const after = paymentAfter([...asked, ...revised]);
    expect(after).toMatchObject({ reviews: [{ evidence: { to: 'declined' } }], acknowledged: [] });
    expect(observe([...asked, ...revised], observed('declined'))).toEqual([]);
  }
});

test('a repeat of what a person called not made is in review while it is open at the service', () => {
  const declined: PaymentEvent = { type: 'PaymentDeclined', data: { declineReason: resolvedByAPerson } };
  const history = [...historyTo.init, declined];
  const shown = decided(history, inquired(observed('pending'), { inquiredAt: 30 * 60_000 }));
  expect([history, [...history, ...shown]].map((each) => mayBePaid(paymentAfter(each)))).toEqual([
    false,
    true,
  ]);
});

// Acknowledged once, it was never asked about again: with other terms it counted as on record.
test('what was acknowledged is forgotten once the payment is shown as agreed', () => {
  const of900 = observed('approved', { amount: 900 });
  const seen = [
    ...[...historyTo.approved, ...observe(historyTo.approved, of900)],
    acknowledged('terms_disagree'),
  ];
  expect(observe(seen, of900)).toEqual([]);
  const back = [...seen, ...observe(seen, observed('approved'))];
  expect(observe(back, observed('approved'))).toEqual([]);
  expect(observe(back, of900)).toMatchObject([{ type: 'ReviewOpened', data: { code: 'terms_disagree' } }]);
});

test.each([
  ['refunded', 0, null],
  ['refunded', undefined, null],
  ['refunded', 500, 500],
  ['approved', undefined, null],
  ['approved', 0, 0],
])('evidence of %s, with a refunded sum of %s, has %s', (status, refundedAmount, observedRefundedAmount) => {
  const [opened] = observe(historyTo.approved, observed(status, { amount: 600, refundedAmount }));
  expect(opened?.data).toMatchObject({ evidence: { observedAmount: 600, observedRefundedAmount } });
});

test('a picture from before it was final ends no doubt about it', () => {
  const doubted = [...historyTo.approved, ...observe(historyTo.approved, observed('odd'))];
  expect(observe(doubted, observed('pending'))).toEqual([]);
});

// --- Stale pictures

test.each(paymentPhases.filter(isFinalPhase))(
  'an older picture takes nothing back from phase %s',
  (phase) => {
    for (const picture of [pictures.init, pictures.pending, pictures['pending, authorized']])
      expect(observe(historyTo[phase], picture)).toEqual([]);
  },
);

test('a picture from before the hold does not end it', () => {
  expect(paymentAfter(historyTo.authorized).authorizedAmount).toBe(1000);
  expect(observe(historyTo.authorized, pictures.pending)).toEqual([]);
});

test('a picture from before a refund takes nothing back', () => {
  const history = [...historyTo.approved, refunded(300)];
  expect(observe(history, observed('approved', { refundedAmount: 100 }))).toEqual([]);
  expect(observe(historyTo.refunded, observed('approved', { refundedAmount: 100 }))).toEqual([]);
});

// --- Refunds

test('a refund that we did not order is booked by the difference', () => {
  expect(observe(historyTo.approved, observed('approved', { refundedAmount: 300 }))).toEqual([refunded(300)]);
  const history = [...historyTo.approved, refunded(300)];
  expect(observe(history, observed('approved', { refundedAmount: 450 }))).toEqual([refunded(150)]);
  expect(observe(history, observed('refunded', { refundedAmount: 1000 }))).toEqual([refunded(700)]);
});

// A partial refund in the service's console, reported as "refunded", was booked as a refund of everything.
test('a deployment that reports "refunded" beside a part of the amount means that part', () => {
  const partly = observed('refunded', { refundedAmount: 300 });
  expect(observe(historyTo.approved, partly)).toEqual([refunded(300)]);
  expect(observe([...historyTo.approved, refunded(300)], partly)).toEqual([]);
  expect(observe(historyTo.declined, partly)).toEqual([
    ...revised('declined', 'approved', { amount: 1000 }),
    refunded(300),
  ]);
});

test('approval and refunds that are seen at once are booked at once', () => {
  expect(observe(historyTo.pending, observed('approved', { refundedAmount: 300 }))).toEqual([
    approved,
    refunded(300),
  ]);
});

test('our own confirmed refund is not booked again as somebody else’s', () => {
  const history = [
    ...historyTo.approved,
    refundSubmitted('refund-1', 300),
    { type: 'RefundApproved', data: { refundToken: 'refund-1' } } as const,
  ];
  expect(observe(history, observed('approved', { refundedAmount: 300 }))).toEqual([]);
  expect(observe(history, observed('approved', { refundedAmount: 500 }))).toEqual([refunded(200)]);
});

const undecided: [string, PaymentEvent[]][] = [
  ['submitted', []],
  ['unresolved', [{ type: 'RefundUnresolved', data: { refundToken: 'refund-1', reason: 'timeout' } }]],
];

describe.each(undecided)('while a refund of ours is %s', (_, events) => {
  const history = [...historyTo.approved, refundSubmitted('refund-1', 1000), ...events];

  test('a partial refund cannot be attributed: it waits', () => {
    expect(observe(history, observed('approved', { refundedAmount: 300 }))).toEqual([]);
  });

  // A full refund whose callback was faster than its answer was once taken for a contradiction.
  test('"refunded" is what we ordered, not a revision', () => {
    const types = observe(history, observed('refunded', { refundedAmount: 1000 })).map(({ type }) => type);
    expect(types).not.toContain('FinalStatusRevised');
  });

  test('a revision does not wait', () => {
    expect(observe(history, observed('declined'))).toEqual(revised('approved', 'declined'));
  });

  test('what waited is booked when the refund has been declined', () => {
    const ended = [...history, sampleEvents.RefundDeclined];
    expect(observe(ended, observed('approved', { refundedAmount: 300 }))).toEqual([refunded(300)]);
  });
});

test('sums of refunds on a payment that is not approved are not booked', () => {
  for (const phase of ['init', 'declined', 'expired'] as const)
    expect(observe(historyTo[phase], observed('declined', { refundedAmount: 300 }))).not.toContainEqual(
      refunded(300),
    );
  expect(observe(historyTo.approved, observed('declined', { refundedAmount: 300 }))).toEqual(
    revised('approved', 'declined'),
  );
});

test('a two-step payment is recognised by its authorized amount', () => {
  const history = [requested({ needConfirmation: true }), sampleEvents.AttemptAccepted];
  expect(observe(history, pictures['pending, authorized'])).toEqual([authorized]);
  expect(observe(historyTo.capturing, pictures.approved)).toEqual([approved]);
});
