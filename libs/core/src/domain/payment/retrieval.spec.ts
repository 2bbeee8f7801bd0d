import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import type { InquiryFailure, InquiryNeed } from '../failed-inquiry.ts';
import {
  announcedCall,
  callbackInquired,
  decided,
  defer,
  deferred,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  refundSubmitted,
  requested,
  sampleEvents,
  types,
} from '../testing/samples.ts';
import { textLengthMax } from '../values.ts';
import type { ReviewCode, PaymentEvent } from './payment-events.ts';
import { inquiryNeedOf } from './inquiry-need.ts';
import { paymentPhases } from './payment-machine.ts';

const { given } = scenario(paymentDomain);

const opened = (code: ReviewCode, evidence: object = {}): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence: expect.objectContaining(evidence) },
});
const unresolvedCharge = [requested({ kind: 'card' }), sampleEvents.AttemptUnresolved];

// --- Callbacks that wait for an inquiry

const sampleAccepted: PaymentEvent = {
  type: 'AttemptAccepted',
  data: { attemptNumber: 1, serviceToken: 'token-a', evidence: 'inquiry' },
};

// Each opened a review with nothing to decide: the provider could be inquired a little later.
test.each(paymentPhases)('in phase %s a callback is deferred, once, and opens no review', (phase) => {
  given(historyTo[phase]).when(defer()).then([deferred()]);
  given([...historyTo[phase], deferred()])
    .when({ ...defer(), deferredAt: 30_000 })
    .thenNothing();
});

test('no more than ten callbacks of one payment are deferred', () => {
  const many = Array.from({ length: 10 }, (_, index) => deferred(`token-${index}`));
  given([...historyTo.approved, ...many])
    .when(defer('token-x'))
    .thenNothing();
  given([...historyTo.approved, ...many.slice(1)])
    .when(defer('token-x'))
    .then([deferred('token-x')]);
});

// A token that could not be read back could not be recorded, and its callback was dropped.
test('the token of a deferred callback is cut, and still inquired', () => {
  const cutToken = 'x'.repeat(textLengthMax);
  given(historyTo.approved)
    .when(defer(`${cutToken}y`))
    .then([deferred(cutToken)]);
  given([...historyTo.approved, deferred(cutToken)])
    .when({ type: 'RecordCallbackInquired', serviceToken: cutToken })
    .then([callbackInquired(cutToken)]);
  given(historyTo.approved)
    .when(defer(''))
    .then([deferred('')]);
});

describe('a deferred callback that names a token', () => {
  const both = [...historyTo.approved, deferred('token-b'), deferred('token-a')];

  test('is kept separately, and once', () => {
    given([...historyTo.approved, deferred('token-a'), deferred()])
      .when(defer('token-b'))
      .then([deferred('token-b')]);
    given(both).when(defer('token-b')).thenNothing();
    given(both).when(defer()).then([deferred()]);
  });

  test('is deferred again after it was inquired', () =>
    given([...both, callbackInquired('token-b')])
      .when(defer('token-b'))
      .then([deferred('token-b')]));

  test('ends with an inquiry about our own payment if it names that one, or none', () => {
    given([...both, deferred()])
      .when(inquired(observed('approved')))
      .then([callbackInquired('token-a'), callbackInquired()]);
    given([...historyTo.approved, deferred('token-b')])
      .when(inquired(observed('approved')))
      .thenNothing();
    const inquiry = { type: 'RecordSearch', attemptNumber: 1, inquiredAt: 20_000 } as const;
    given([...historyTo.unresolved, deferred('token-b'), deferred('token-a')])
      .when({ ...inquiry, found: [observed('init')] })
      .then([sampleAccepted, callbackInquired('token-a')]);
    given([...unresolvedCharge, deferred('token-b'), deferred()])
      .when({ ...inquiry, found: [] })
      .then([callbackInquired()]);
  });

  // Searches are recorded at any revision: one that began before the callback ended its deferral.
  test('does not end with a search that began before its deferral', () =>
    given([...historyTo.unresolved, deferred('token-a'), deferred()])
      .when({ type: 'RecordSearch', attemptNumber: 1, inquiredAt: 19_999, found: [observed('init')] })
      .then([sampleAccepted]));

  test('ends with an inquiry about its token', () => {
    given(both)
      .when({ type: 'RecordCallbackInquired', serviceToken: 'token-b' })
      .then([callbackInquired('token-b')]);
    given(both).when({ type: 'RecordCallbackInquired', serviceToken: 'token-c' }).thenNothing();
    given([...historyTo.approved, deferred()])
      .when({ type: 'RecordCallbackInquired', serviceToken: 'token-a' })
      .thenNothing();
  });
});

// --- Inquiries that fail

describe('an inquiry that failed', () => {
  const failed = (reason: InquiryFailure, failedAt = 0) =>
    ({ type: 'RecordInquiryFailed', reason, account: 'main', failedAt }) as const;
  const unreadable = (reason: InquiryFailure, inquiryNeed: InquiryNeed = 'unresolved'): PaymentEvent => ({
    type: 'ReviewOpened',
    data: { code: 'service_not_readable', evidence: { reason, account: 'main', inquiryNeed } },
  });
  const over: PaymentEvent = {
    type: 'ReviewResolved',
    data: {
      code: 'service_not_readable',
      number: 1,
      resolution: 'retrieved',
      reason: 'The provider reported the outcome later.',
    },
  };
  const foundOut: PaymentEvent = {
    type: 'ReviewResolved',
    data: {
      code: 'service_not_readable',
      number: 1,
      resolution: 'found',
      reason: 'The provider reported the outcome later.',
    },
  };

  test.each(['account_missing', 'refused'] as const)(
    'as %s opens a review at once if, and only if, an outcome is unknown',
    (reason) => {
      for (const phase of paymentPhases) {
        const need = inquiryNeedOf(paymentAfter(historyTo[phase]));
        const opened = need === 'settled' ? [] : [unreadable(reason, need)];
        expect(decided(historyTo[phase], failed(reason))).toEqual(opened);
      }
    },
  );

  const refunding = [...historyTo.approved, refundSubmitted('refund-1', 300)];
  test.each([
    ['an hour', 'a lost attempt', historyTo.unresolved, 160_000, 3_600_000],
    ['an hour', 'a confirmation', historyTo.capturing, 160_000, 3_600_000],
    ['an hour', 'a refund', refunding, 160_000, 3_600_000],
    ['a day', 'what needs no command', historyTo.pending, 160_000, 86_400_000],
  ] as const)(
    'without an answer opens a review after %s: %s',
    (_, _what, history, quietUntil, patienceMs) => {
      given(history)
        .when(failed('no_answer', quietUntil + patienceMs - 1))
        .thenNothing();
      given(history)
        .when(failed('no_answer', quietUntil + patienceMs))
        .then([unreadable('no_answer', inquiryNeedOf(paymentAfter(history)))]);
    },
  );

  test('counts its patience from the latest call', () => {
    const late = { ...announcedCall, quietUntil: 1_000_000 };
    const capturing: PaymentEvent[] = [...historyTo.authorized, { type: 'CaptureSubmitted', data: late }];
    given(capturing)
      .when(failed('no_answer', 999_999 + 3_600_000))
      .thenNothing();
    const refund = refundSubmitted('refund-1', 300);
    given([...historyTo.approved, { ...refund, data: { ...refund.data, ...late } }])
      .when(failed('no_answer', 999_999 + 3_600_000))
      .thenNothing();
  });

  // The callback may be news: it restarts the patience, even for a payment that was final long ago.
  test.each(['approved', 'pending'] as const)(
    'counts its patience from the latest deferred callback: %s',
    (phase) => {
      const late = { type: 'CallbackDeferred', data: { deferredAt: 90_000_000 } } as const;
      given([...historyTo[phase], deferred('token-b'), late])
        .when(failed('no_answer', 89_999_999 + 3_600_000))
        .thenNothing();
      given([...historyTo[phase], deferred('token-b'), late])
        .when(failed('no_answer', 90_000_000 + 3_600_000))
        .then([unreadable('no_answer')]);
    },
  );

  // The token may belong to another account, which answers while ours does not.
  test('is not over while the token of a deferred callback is not inquired', () => {
    const history = [...historyTo.approved, deferred('token-b'), unreadable('no_answer')];
    given(history)
      .when(inquired(observed('approved')))
      .thenNothing();
    given(history)
      .when({ type: 'RecordCallbackInquired', serviceToken: 'token-b' })
      .then([callbackInquired('token-b'), foundOut]);
  });

  test('is over with the next answered one', () => {
    const of = (history: readonly PaymentEvent[]) => [...history, unreadable('refused')];
    given(of(unresolvedCharge))
      .when({ type: 'RecordSearch', attemptNumber: 1, found: [], inquiredAt: 0 })
      .then([over]);
    given(of(historyTo.pending))
      .when(inquired(observed('pending')))
      .then([over]);
    given(of(historyTo.pending))
      .when({ type: 'RecordMissing', serviceToken: 'token-b', inquiredAt: 0 })
      .then([over]);
  });

  // An account that had once been silent about the payment was silent about a refund, months later: no review was opened.
  test('opens a review again after an acknowledged one, once an inquiry was answered', () => {
    const acknowledged: PaymentEvent = { ...over, data: { ...over.data, resolution: 'acknowledged' } };
    const seen = [...historyTo.pending, unreadable('refused', 'open'), acknowledged];
    given(seen).when(failed('refused')).thenNothing();
    const answered = decided(seen, inquired(observed('pending')));
    given([...seen, ...answered])
      .when(failed('refused'))
      .then([unreadable('refused', 'open')]);
  });

  test('is over if nothing is left to find out', () => {
    given([...historyTo.requested, unreadable('refused')])
      .when({
        type: 'RecordAuthorizationOutcome',
        attemptNumber: 1,
        outcome: { kind: 'not-sent', reason: 'x' },
      })
      .then([
        { type: 'AttemptNotSent', data: { attemptNumber: 1, reason: 'x' } },
        { type: 'PaymentFailed', data: { reason: 'not-sent' } },
        foundOut,
      ]);
  });
});

test("the provider's texts are cut before they become evidence", () => {
  const currency = 'X'.repeat(100_000);
  const events = decided(historyTo.pending, inquired(observed('approved', { currency })));
  expect(types(events)).toEqual(['ReviewOpened']);
  expect(JSON.stringify(events).length).toBeLessThan(2_000);
});

// --- Everything in one inquiry

test('one inquiry may show the status, the refunds and the token', () => {
  const history = [requested({ recurring: true }), sampleEvents.AttemptAccepted];
  given(history)
    .when(inquired(observed('approved', { refundedAmount: 300, recurringToken: 'rec_1' })))
    .then([
      { type: 'PaymentApproved', data: { amount: 1000 } },
      { type: 'RecurringTokenIssued', data: { recurringToken: 'rec_1' } },
      { type: 'ExternalRefundObserved', data: { amount: 300 } },
    ]);
});

test.each([
  ['of an unknown status', { status: 'odd' }],
  ['of another amount', { amount: 999 }],
  ['of another order', { orderNumber: 'pay_1.9' }],
])(
  'a snapshot %s proves nothing about tokens, and about refunds and confirmations only that time is over',
  (_, changes) => {
    const atLeisure = { inquiredAt: 10_000_000, nextWindow: announcedCall };
    const snapshot = {
      ...observed('pending', { authorizedAmount: 500, recurringToken: 'rec_1' }),
      ...changes,
    };
    const calls = [opened('capture_unresolved', { operation: 'capture', submissions: 1 })];
    const unresolved = { type: 'CaptureUnresolved', data: { reason: 'no outcome was recorded' } };
    expect(decided(historyTo.capturing, inquired(snapshot, atLeisure)).slice(1)).toEqual([
      unresolved,
      ...calls,
    ]);
    expect(types(decided(historyTo.capturing, inquired(snapshot)))).toEqual(['ReviewOpened']);
    const refunding = [
      ...[requested({ recurring: true }), sampleEvents.AttemptAccepted, sampleEvents.PaymentApproved],
      refundSubmitted('refund-1', 300),
    ];
    const paid = { ...observed('approved', { refundedAmount: 300, recurringToken: 'rec_1' }), ...changes };
    expect(decided(refunding, inquired(paid, atLeisure)).slice(0, 2)).toEqual([
      { type: 'RefundUnresolved', data: { refundToken: 'refund-1', reason: 'no outcome was recorded' } },
      opened('refund_unresolved', { refundToken: 'refund-1', observedRefundedAmount: null }),
    ]);
    expect(types(decided(refunding, inquired(paid)))).toEqual(['ReviewOpened']);
  },
);

test('a deferred callback ends after any inquiry result', () => {
  const events = decided([...historyTo.approved, deferred()], inquired(observed('odd')));
  expect(types(events)).toEqual(['ReviewOpened', 'CallbackInquired']);
});

test('an inquiry about another payment does not count for this one', () => {
  const history = [...historyTo.approved, deferred()];
  const events = decided(history, inquired(observed('approved', { serviceToken: 'token-b' })));
  expect(types(events)).toEqual(['ReviewOpened']);
});

// An acknowledged discrepancy was once silent permanently, together with the refund's reservation.
test('a discrepancy with our record kept does not prevent a refund from opening a review', () => {
  const refunding = [...historyTo.approved, refundSubmitted('refund-1', 300)];
  const odd = inquired(observed('approved', { amount: 999 }));
  const seen: PaymentEvent[] = [
    ...refunding,
    ...decided(refunding, odd),
    {
      type: 'ReviewResolved',
      data: { code: 'discrepancy', number: 1, resolution: 'keep_ours', reason: 'seen' },
    },
  ];
  expect(types(decided(seen, { ...odd, inquiredAt: announcedCall.quietUntil }))).toEqual([
    'RefundUnresolved',
    'ReviewOpened',
  ]);
});

// --- Recurring tokens

const recurring = [requested({ recurring: true }), sampleEvents.AttemptAccepted];

test.each(['init', 'pending', 'approved'])(
  'a requested recurring token is issued once, seen %s',
  (status) => {
    const snapshot = observed(status, { recurringToken: 'rec_1' });
    const events = decided(recurring, inquired(snapshot));
    expect(events.filter(({ type }) => type === 'RecurringTokenIssued')).toEqual([
      { type: 'RecurringTokenIssued', data: { recurringToken: 'rec_1' } },
    ]);
    const history = [...recurring, ...events];
    expect(paymentAfter(history).recurringToken).toBe('rec_1');
    expect(decided(history, inquired({ ...snapshot, recurringToken: 'rec_2' }))).toEqual([]);
  },
);

test('a recurring token that was not requested is not issued', () => {
  for (const asked of [undefined, false]) {
    const history = [
      requested(asked === undefined ? {} : { recurring: asked }),
      sampleEvents.AttemptAccepted,
    ];
    expect(types(decided(history, inquired(observed('approved', { recurringToken: 'rec_1' }))))).toEqual([
      'PaymentApproved',
    ]);
  }
});

test('a recurring token is issued by the inquiry that finds a lost attempt', () => {
  const found = [observed('approved', { recurringToken: 'rec_1' })];
  const history = [requested({ recurring: true }), sampleEvents.AttemptUnresolved];
  const events = decided(history, { type: 'RecordSearch', attemptNumber: 1, found, inquiredAt: 0 });
  expect(types(events)).toEqual(['AttemptAccepted', 'PaymentApproved', 'RecurringTokenIssued']);
});
