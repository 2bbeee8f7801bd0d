import { describe, expect, test } from 'vitest';
import {
  decided,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  requested,
  sampleEvents,
} from '../testing/samples.ts';
import type { ObservedPayment } from './payment-commands.ts';
import type { PaymentEvent } from './payment-events.ts';
import { paymentPhases, type PaymentPhase } from './payment-machine.ts';
import { resolvedByAPerson } from '../review.ts';
import { mayBePaid } from './creation.ts';

const observe = (history: readonly PaymentEvent[], snapshot: ObservedPayment) =>
  decided(history, inquired(snapshot));

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
];
const paid = { amount: 1000, refundedAmount: 0 };
const givenBack = { amount: 1000, refundedAmount: 1000 };
const disagrees = (status: FinalStatus, observedStatus: string): object[] => [
  {
    type: 'ReviewOpened',
    data: expect.objectContaining({
      code: 'discrepancy',
      evidence: expect.objectContaining({ kind: 'final_status_revised', status, observedStatus }),
    }),
  },
];
// A failed payment never had a token; the first one found is kept, to distinguish it from a second.
const found = { serviceToken: 'token-a' };

type Snapshot = 'init' | 'pending' | 'pending, authorized' | FinalStatus;
const snapshots: Record<Snapshot, ObservedPayment> = {
  init: observed('init'),
  pending: observed('pending'),
  'pending, authorized': observed('pending', { authorizedAmount: 1000 }),
  approved: observed('approved'),
  declined: observed('declined'),
  refunded: observed('refunded', { refundedAmount: 1000 }),
  expired: observed('expired'),
};

const nothing = {
  init: [],
  pending: [],
  'pending, authorized': [],
  approved: [],
  declined: [],
  refunded: [],
  expired: [],
};
const outcomes = {
  approved: [approved],
  declined: [declined],
  refunded: [approved, refunded(1000)],
  expired: [expired],
};

/** The events for each snapshot of the provider in each phase. */
const table: Record<PaymentPhase, Record<Snapshot, readonly object[]>> = {
  requested: nothing,
  unresolved: nothing,
  init: { ...outcomes, init: [], pending: [pending], 'pending, authorized': [authorized] },
  pending: { ...outcomes, init: [], pending: [], 'pending, authorized': [authorized] },
  authorized: { ...outcomes, init: [], pending: [], 'pending, authorized': [] },
  capturing: { ...outcomes, init: [], pending: [], 'pending, authorized': [] },
  voiding: { ...outcomes, declined: [voided], init: [], pending: [], 'pending, authorized': [] },
  approved: {
    ...nothing,
    declined: disagrees('approved', 'declined'),
    refunded: [refunded(1000)],
    expired: disagrees('approved', 'expired'),
  },
  declined: {
    ...nothing,
    approved: revised('declined', 'approved', paid),
    refunded: revised('declined', 'refunded', givenBack),
    expired: revised('declined', 'expired'),
  },
  voided: {
    ...nothing,
    approved: revised('declined', 'approved', paid),
    refunded: revised('declined', 'refunded', givenBack),
    expired: revised('declined', 'expired'),
  },
  refunded: {
    ...nothing,
    declined: disagrees('refunded', 'declined'),
    expired: disagrees('refunded', 'expired'),
  },
  expired: {
    ...nothing,
    approved: revised('expired', 'approved', paid),
    declined: revised('expired', 'declined'),
    refunded: revised('expired', 'refunded', givenBack),
  },
  failed: {
    ...nothing,
    pending: disagrees('declined', 'pending'),
    'pending, authorized': disagrees('declined', 'pending'),
    approved: revised('declined', 'approved', { ...paid, ...found }),
    refunded: revised('declined', 'refunded', { ...givenBack, ...found }),
  },
};

describe.each(paymentPhases)('in phase %s', (phase) => {
  test.each(Object.keys(snapshots) as Snapshot[])('"%s" gives the events of the table', (snapshot) => {
    expect(observe(historyTo[phase], snapshots[snapshot])).toEqual(table[phase][snapshot]);
  });

  test('a status that the specification does not know is a discrepancy', () => {
    const awaitsCall = phase === 'requested' || phase === 'unresolved';
    const evidence = { kind: 'unknown_status', observedStatus: 'odd', observedAmount: 1000 };
    expect(observe(historyTo[phase], observed('odd'))).toMatchObject(
      awaitsCall ? [] : [{ type: 'ReviewOpened', data: { code: 'discrepancy', evidence } }],
    );
  });
});

test('an unknown status is evidence, up to a maximum length', () => {
  const [opened] = observe(historyTo.init, observed('x'.repeat(10_000)));
  expect(opened?.data).toMatchObject({ evidence: { observedStatus: 'x'.repeat(256) } });
});

// --- Details of a snapshot

const sanitizedMask = '439296******1251';

test('mask, reason and amounts of the snapshot are recorded', () => {
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

test('texts of the provider are cut, not refused', () => {
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
  test('is a discrepancy, and books nothing', () => {
    for (const status of ['init', 'pending', 'approved'])
      expect(observe(historyTo.init, observed(status, changes))).toMatchObject([
        { type: 'ReviewOpened', data: { code: 'discrepancy', evidence } },
      ]);
  });

  // While the review was open, the second inquiry once booked the wrong amount.
  test('is not booked by a second inquiry either, whatever it shows', () => {
    const history = [...historyTo.init, ...observe(historyTo.init, observed('init', changes))];
    for (const status of ['pending', 'approved', 'declined', 'refunded', 'expired'])
      for (const event of observe(history, observed(status, changes))) expect(event.type).toMatch(/^Review/);
  });
});

test('a snapshot without an order number agrees', () => {
  const { orderNumber: _, ...snapshot } = observed('approved');
  expect(observe(historyTo.init, snapshot)).toEqual([approved]);
});

test('the amount of the latest attempt is compared', () => {
  const second: PaymentEvent[] = [
    ...[...historyTo.unresolved, sampleEvents.AttemptNotFound, sampleEvents.AttemptStarted],
    { type: 'AttemptAccepted', data: { attemptNumber: 2, serviceToken: 'token-b', evidence: 'answer' } },
  ];
  const snapshot = { serviceToken: 'token-b', orderNumber: 'pay_1.2' };
  expect(observe(second, observed('approved', snapshot))).toEqual([approved]);
});

test('a payment answered as not made is in review while it is open at the provider', () => {
  const declined: PaymentEvent = { type: 'PaymentDeclined', data: { declineReason: resolvedByAPerson } };
  const history = [...historyTo.init, declined];
  const shown = decided(history, inquired(observed('pending'), { inquiredAt: 30 * 60_000 }));
  expect([history, [...history, ...shown]].map((each) => mayBePaid(paymentAfter(each)))).toEqual([
    false,
    true,
  ]);
});

test('a snapshot from before the final status ends no discrepancy', () => {
  const doubted = [...historyTo.approved, ...observe(historyTo.approved, observed('odd'))];
  expect(observe(doubted, observed('pending'))).toEqual([]);
});

test('a snapshot from before the reservation does not end it', () => {
  expect(paymentAfter(historyTo.authorized).authorizedAmount).toBe(1000);
  expect(observe(historyTo.authorized, snapshots.pending)).toEqual([]);
});

test('a snapshot from before a refund takes nothing back', () => {
  const history = [...historyTo.approved, refunded(300)];
  expect(observe(history, observed('approved', { refundedAmount: 100 }))).toEqual([]);
  expect(observe(historyTo.refunded, observed('approved', { refundedAmount: 100 }))).toEqual([]);
});

// --- Refunds

test('approval and refunds first seen together are booked together', () => {
  expect(observe(historyTo.pending, observed('approved', { refundedAmount: 300 }))).toEqual([
    approved,
    refunded(300),
  ]);
});

test('a two-step payment is recognized by its authorized amount', () => {
  const history = [requested({ needConfirmation: true }), sampleEvents.AttemptAccepted];
  expect(observe(history, snapshots['pending, authorized'])).toEqual([authorized]);
  expect(observe(historyTo.capturing, snapshots.approved)).toEqual([approved]);
});
