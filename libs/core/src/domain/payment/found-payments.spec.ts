/** Payments of the provider under our order numbers: which one is ours, and which may take money. */
import { describe, expect, it } from 'vitest';
import {
  adopted,
  apiError,
  attempt,
  decided,
  fold,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  refundSubmitted,
  requested,
  requestPayment,
  sampleEvents,
} from '../testing/samples.ts';
import { after, missing, externalRefund } from '../testing/payment-story.ts';
import { likeliestOf, mayBePaid } from './creation.ts';
import type { ObservedPayment, PaymentInput, RecordSearch } from './payment-commands.ts';
import { decide } from './payment-decide.ts';
import type { PaymentEvent } from './payment-events.ts';
import { refundedElsewhere } from './payment-state.ts';

/** The first attempt is sent by 101,000; the clocks may differ by minutes. */
const longBefore = -1_000_000;
const search = (found: readonly ObservedPayment[], changes: Partial<RecordSearch> = {}): RecordSearch => ({
  type: 'RecordSearch',
  attemptNumber: 1,
  found: [...found],
  inquiredAt: 160_000,
  ...changes,
});
const answered = (outcome: object, changes: object = {}): PaymentInput =>
  ({ type: 'RecordAuthorizationOutcome', attemptNumber: 1, outcome, ...changes }) as PaymentInput;
const discrepanciesIn = (events: readonly PaymentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'ReviewOpened' && event.data.discrepancy !== undefined ? [event.data.discrepancy] : [],
  );
const failed = (history: readonly PaymentEvent[] = historyTo.unresolved): PaymentEvent[] => [
  ...history,
  { type: 'PaymentFailed', data: { reason: 'resolved' } },
];

it('of several, ours has our terms; then the one whose money moved, or may', () => {
  const payment = paymentAfter(historyTo.unresolved);
  const inOrder = [
    observed('approved', { serviceToken: 'a' }),
    observed('pending', { serviceToken: 'b', authorizedAmount: 1000 }),
    observed('init', { serviceToken: 'c' }),
    observed('declined', { serviceToken: 'd' }),
    observed('approved', { serviceToken: 'e', amount: 900 }),
    observed('pending', { serviceToken: 'f', authorizedAmount: 900, amount: 900 }),
    observed('init', { serviceToken: 'g', amount: 900 }),
    observed('expired', { serviceToken: 'h', amount: 900 }),
  ];
  for (const [place, best] of inOrder.entries()) {
    const rest = inOrder.slice(place);
    expect(likeliestOf(payment, rest)).toBe(best);
    expect(likeliestOf(payment, rest.toReversed())).toBe(best);
  }
  const expired = observed('expired');
  expect(likeliestOf(payment, [expired, observed('init')])?.status).toBe('init');
  for (const foreign of [{ createdAt: longBefore }, { hasOurCallback: false }])
    expect(likeliestOf(payment, [observed('approved', foreign)])).toBeUndefined();
  // A failed payment is compared with the requested amount, although any amount agrees.
  const { serviceToken } = likeliestOf(paymentAfter(failed()), [
    observed('declined', { serviceToken: 'x', amount: 900 }),
    observed('declined', { serviceToken: 'y' }),
  ])!;
  expect(serviceToken).toBe('y');
});

describe('the answer to a creation', () => {
  const accepted = { kind: 'accepted', serviceToken: 'token-a' };

  it.each([
    [{ amount: 900 }, { amount: 900, currency: 'EUR' }],
    [{ currency: 'USD' }, { amount: 1000, currency: 'USD' }],
  ])('may show other terms: %j', (changes, theirs) => {
    const events = decided(historyTo.requested, answered({ ...accepted, ...changes }));
    expect(discrepanciesIn(events)).toMatchObject([
      {
        kind: 'terms_disagree',
        operation: 'payment',
        serviceToken: 'token-a',
        ours: { amount: 1000, currency: 'EUR' },
        theirs: { ...theirs, status: 'init' },
      },
    ]);
  });

  it('that is late shows a duplicate, unless an inquiry has recorded more about it', () => {
    const charge = [requested({ kind: 'card' }), ...historyTo.init.slice(1)];
    const late = answered({ ...accepted, serviceToken: 'token-b' });
    expect(discrepanciesIn(decided(charge, late))).toMatchObject([
      { kind: 'second_payment_found', operation: 'payment', serviceToken: 'token-b', ours: null },
    ]);
    const seen = decided(charge, inquired(observed('approved', { serviceToken: 'token-b' })));
    expect(decided([...charge, ...seen], late)).toEqual([]);
    expect(decided(charge, answered({ kind: 'refused', errors: [] }))).toEqual([]);
  });

  it('that is a refusal has its errors until an inquiry confirms it', () => {
    const errors = [apiError('processing_error')];
    const events = decided(historyTo.requested, answered({ kind: 'unknown', reason: 'refused', errors }));
    expect(events).toEqual([
      { type: 'AttemptUnresolved', data: { attemptNumber: 1, reason: 'refused', errors } },
    ]);
  });

  it('is followed by the next attempt, and by no other', () => {
    const lost = (nextAttempt: object) => answered({ kind: 'unknown', reason: 'timeout' }, { nextAttempt });
    expect(decided(historyTo.requested, lost(attempt(2))).map(({ type }) => type)).toEqual([
      'AttemptUnresolved',
      'AttemptStarted',
    ]);
    expect(() => decide(paymentAfter(historyTo.requested), lost(attempt(3)))).toThrow(
      'attempts must be numbered one after the other',
    );
    const last = [...historyTo.requested, { type: 'AttemptStarted', data: { attempt: attempt(3) } } as const];
    const ended = decided(
      last,
      answered({ kind: 'unknown', reason: 'timeout' }, { attemptNumber: 3, nextAttempt: attempt(4) }),
    );
    expect(ended.at(-1)).toEqual({ type: 'PaymentFailed', data: { reason: 'not-found' } });
  });
});

describe('a search that comes late', () => {
  const kindsOf = (history: readonly PaymentEvent[], command: RecordSearch) =>
    decided(history, command).map((event) =>
      event.type === 'ReviewOpened' ? (event.data.discrepancy?.kind ?? event.data.code) : event.type,
    );

  it.each<[string, readonly PaymentEvent[], RecordSearch, string[]]>([
    ['revises a payment that failed here', failed(), search([observed('approved')]), ['FinalStatusRevised']],
    [
      'shows a duplicate if another attempt made it',
      failed([
        ...historyTo.unresolved,
        sampleEvents.AttemptNotFound,
        sampleEvents.AttemptStarted,
        { type: 'AttemptUnresolved', data: { attemptNumber: 2, reason: 'timeout' } },
      ]),
      search([observed('approved')]),
      ['second_payment_found'],
    ],
    [
      'shows a duplicate if it was made before the attempt',
      failed(),
      search([observed('approved', { createdAt: longBefore })]),
      ['second_payment_found'],
    ],
    [
      'shows no duplicate under another number of the current attempt',
      historyTo.approved,
      search([observed('approved', { serviceToken: 'token-b', orderNumber: 'other' })]),
      [],
    ],
    [
      'shows a duplicate of a past attempt under any number',
      historyTo.approved,
      search([observed('approved', { serviceToken: 'token-b', orderNumber: 'other' })], { attemptNumber: 2 }),
      ['second_payment_found'],
    ],
  ])('%s', (_, history, command, expected) => {
    expect(kindsOf(history, command)).toEqual(expected);
  });
});

it('the review of an attempt shows the order that its search found instead', () => {
  const evidenceOf = (...found: ObservedPayment[]) =>
    decided(historyTo.unresolved, search(found)).flatMap((event) =>
      event.type === 'ReviewOpened' ? [event.data.evidence['observedServiceToken']] : [],
    );
  const other = observed('approved', { serviceToken: 'token-z', orderNumber: 'other' });
  const older = observed('approved', { createdAt: longBefore });
  expect(evidenceOf(other)).toEqual(['token-z']);
  expect(evidenceOf(other, older)).toEqual(['token-a']);
});

it('a payment may be paid while the provider shows one that took money, or still may', () => {
  const mayBe = (...story: Parameters<typeof after>) => mayBePaid(paymentAfter(after(...story)));
  const shows = (status: string, changes: Partial<ObservedPayment> = {}) =>
    inquired(observed(status, { serviceToken: 'token-b', ...changes }), { inquiredAt: 30 * 60_000 });
  const { approved } = historyTo;
  expect(mayBe(approved)).toBe(false);
  expect(mayBe(approved, shows('approved'))).toBe(true);
  expect(mayBe(approved, shows('init', { authorizedAmount: 5 }))).toBe(true);
  expect(mayBe(approved, shows('refunded', { refundedAmount: 1000 }))).toBe(false);
  expect(mayBe(approved, shows('refunded', { refundedAmount: undefined }))).toBe(false);
  expect(mayBe(approved, shows('refunded', { refundedAmount: 400 }))).toBe(true);
  expect(mayBe(approved, shows('refunded', { refundedAmount: 5000 }))).toBe(false);
  expect(mayBe(approved, shows('approved', { refundedAmount: 1000 }))).toBe(false);
  // Sums that make no sense do not show that the money is back.
  for (const sums of [
    { refundedAmount: 5000 },
    { amount: 0 },
    { amount: -5 },
    { amount: 0, refundedAmount: null },
  ])
    expect(mayBe(approved, shows('approved', sums as Partial<ObservedPayment>))).toBe(true);
  expect(mayBe(approved, missing)).toBe(false);
  expect(mayBe(approved, shows('declined', { serviceToken: 'token-a' }))).toBe(false);
});

it('a refund of ours explains a part of the refunded sum, and never more than all of it', () => {
  const history: PaymentEvent[] = [
    ...historyTo.approved,
    externalRefund(50),
    refundSubmitted('a', 300),
    { type: 'RefundApproved', data: { refundToken: 'a' } },
  ];
  const payment = paymentAfter([...history, refundSubmitted('b', 100)]);
  expect(payment.refundedAmount).toBe(350);
  expect(refundedElsewhere(payment)).toBe(50);
  expect(refundedElsewhere({ ...payment, refundedAmount: 200 })).toBe(0);
});

it('an adopted payment neither begins again nor counts as requested', () => {
  expect(() => fold([adopted(), adopted()])).toThrow('occurred after the first event');
  expect(decide(fold([adopted()]), requestPayment())).toMatchObject({
    refusal: { code: 'idempotency_key_reused' },
  });
});
