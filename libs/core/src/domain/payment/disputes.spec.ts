import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  refundSubmitted,
  requested,
  sampleEvents,
} from '../testing/samples.ts';
import { resolve, submitRefund } from '../testing/payment-story.ts';
import { disputedAmount, lostAmount } from './payment-state.ts';
import type { PaymentInput, RecordDispute } from './payment-commands.ts';
import { decide } from './payment-decide.ts';
import type { PaymentEvent, PaymentEventType } from './payment-events.ts';
import { paymentPhases } from './payment-machine.ts';
import { refundableAmount } from './payment-state.ts';

const { given } = scenario(paymentDomain);

/** The list's record of a dispute over 400 EUR, in its n-th state. */
const shown = (
  state: RecordDispute['state'],
  revision = 0,
  more: Partial<RecordDispute> = {},
): RecordDispute => ({
  type: 'RecordDispute',
  disputeToken: 'dsp_1',
  revision,
  state,
  amount: 400,
  currency: 'EUR',
  status: state,
  ...more,
});
type DisputeEventType = Extract<PaymentEventType, `Dispute${string}`>;
const recorded = (type: DisputeEventType, revision = 0, amount = 400): PaymentEvent => ({
  type,
  data: { disputeToken: 'dsp_1', amount, revision },
});
const { approved } = historyTo;
const open = [...approved, recorded('DisputeOpened')];
const won = [...open, recorded('DisputeWon', 1)];
const lost = [...open, recorded('DisputeLost', 1)];

const eventsOf = (history: readonly PaymentEvent[], input: PaymentInput): readonly PaymentEvent[] => {
  const decision = decide(paymentAfter(history), input);
  if (decision.kind === 'refused') throw new Error(decision.refusal.code);
  return decision.events;
};
const disputeEventsOf = (history: readonly PaymentEvent[], input: PaymentInput) =>
  eventsOf(history, input).filter(({ type }) => type.startsWith('Dispute'));

describe('a dispute in the list', () => {
  test.each<[string, readonly PaymentEvent[], RecordDispute, PaymentEvent | undefined]>([
    ['opens it', approved, shown('open'), recorded('DisputeOpened')],
    ['opens it under an unknown status', approved, shown('unknown'), recorded('DisputeOpened')],
    ['may be its end already: won', approved, shown('won'), recorded('DisputeWon')],
    ['may be its end already: lost', approved, shown('lost'), recorded('DisputeLost')],
    ['again is nothing new', open, shown('open', 1), undefined],
    ['changes the amount', open, shown('open', 1, { amount: 300 }), recorded('DisputeChanged', 1, 300)],
    ['ends it as won', open, shown('won', 1), recorded('DisputeWon', 1)],
    ['ends it as lost', open, shown('lost', 1), recorded('DisputeLost', 1)],
    ['loses another amount', lost, shown('lost', 2, { amount: 300 }), recorded('DisputeLost', 2, 300)],
    ['turns the decision: won', lost, shown('won', 2), recorded('DisputeWon', 2)],
    ['turns the decision: lost', won, shown('lost', 2), recorded('DisputeLost', 2)],
    ['opens it once more', won, shown('open', 2), recorded('DisputeOpened', 2)],
    ['is older than what is on record', lost, shown('open', 0), undefined],
    ['is as old as what is on record', lost, shown('won', 1), undefined],
    [
      'is no more than the payment',
      approved,
      shown('open', 0, { amount: 9_000 }),
      recorded('DisputeOpened', 0, 1000),
    ],
    [
      'in another currency is the whole payment',
      approved,
      shown('open', 0, { currency: 'USD' }),
      recorded('DisputeOpened', 0, 1000),
    ],
  ])('%s', (_, history, command, expected) => {
    expect(disputeEventsOf(history, command)).toEqual(expected === undefined ? [] : [expected]);
    given(history).when(command).then(eventsOf(history, command));
  });

  test.each(paymentPhases)(
    'is recorded of a payment that is %s, and changes neither status nor amounts',
    (phase) => {
      const history = historyTo[phase];
      const before = paymentAfter(history);
      const after = paymentAfter([...history, ...eventsOf(history, shown('lost'))]);
      expect({ ...after, disputes: [] }).toEqual(before);
      expect(lostAmount(after)).toBe(400);
      expect(refundableAmount(after)).toBe(phase === 'approved' ? 600 : 0);
    },
  );

  test('is recorded for at most a hundred disputes of one payment', () => {
    const many = Array.from({ length: 100 }, (_, place) => ({
      type: 'DisputeWon' as const,
      data: { disputeToken: `dsp_${place + 2}`, amount: 1, revision: 0 },
    }));
    given([...approved, ...many])
      .when(shown('open'))
      .thenNothing();
  });
});

test.each<[string, readonly PaymentEvent[], { disputed: number; lost: number; refundable: number }]>([
  ['undisputed', approved, { disputed: 0, lost: 0, refundable: 1000 }],
  ['open', open, { disputed: 400, lost: 0, refundable: 600 }],
  ['won', won, { disputed: 0, lost: 0, refundable: 1000 }],
  ['lost', lost, { disputed: 0, lost: 400, refundable: 600 }],
  [
    'during a refund',
    [...open, refundSubmitted('refund-1', 500)],
    { disputed: 400, lost: 0, refundable: 100 },
  ],
  [
    'of what is refunded',
    [...historyTo.refunded, recorded('DisputeOpened')],
    { disputed: 400, lost: 0, refundable: 0 },
  ],
])('money that is %s', (_, history, { disputed, lost: gone, refundable }) => {
  const payment = paymentAfter(history);
  expect(disputedAmount(payment)).toBe(disputed);
  expect(lostAmount(payment)).toBe(gone);
  expect(refundableAmount(payment)).toBe(refundable);
});

// A refund of disputed money was sent, certainly refused, and answered 202: it blocked the undisputed rest until a person
// resolved it.
describe('a refund', () => {
  const submit = (amount?: number) => submitRefund('refund-1', amount);

  test.each([
    ['open', open],
    ['lost', lost],
  ])('of money whose dispute is %s is refused, and of the rest is submitted', (_, history) => {
    for (const amount of [601, 1000])
      expect(decide(paymentAfter(history), submit(amount))).toEqual({
        kind: 'refused',
        refusal: { code: 'payment_disputed', refundableAmount: 600, currency: 'EUR' },
      });
    given(history).when(submit(1001)).thenRefused('refund_exceeds_amount');
    given(history)
      .when(submit(600))
      .then([refundSubmitted('refund-1', 600)]);
    given(history)
      .when(submit())
      .then([refundSubmitted('refund-1', 600)]);
  });

  test('of a fully disputed payment is refused', () =>
    given([...approved, recorded('DisputeOpened', 0, 1000)])
      .when(submit())
      .thenRefused('payment_disputed'));

  test('of money whose dispute is won is submitted', () =>
    given(won)
      .when(submit(1000))
      .then([refundSubmitted('refund-1', 1000)]));
});

describe('the review of a dispute', () => {
  const opening = shown('open', 0, { reasonCode: '4853', status: 'pending' });
  const inReview = [...approved, ...eventsOf(approved, opening)];

  test('has the amount, the reason, earlier refunds, and the rest', () => {
    const history: PaymentEvent[] = [...approved, { type: 'ExternalRefundObserved', data: { amount: 250 } }];
    expect(eventsOf(history, opening)[1]).toEqual({
      type: 'ReviewOpened',
      data: {
        code: 'dispute_opened',
        evidence: {
          disputeToken: 'dsp_1',
          amount: 400,
          currency: 'EUR',
          reasonCode: '4853',
          observedStatus: 'pending',
          refundedAmount: 250,
          refundableAmount: 350,
        },
      },
    });
  });

  test.each(['won', 'lost'] as const)("is closed by the bank's decision: %s", (state) => {
    expect(paymentAfter([...inReview, ...eventsOf(inReview, shown(state, 1))]).reviews).toEqual([]);
  });

  test('has the latest amount', () => {
    const history = [...inReview, ...eventsOf(inReview, shown('open', 1, { amount: 300 }))];
    expect(paymentAfter(history).reviews).toMatchObject([{ number: 2, evidence: { amount: 300 } }]);
  });

  test('is opened per dispute', () => {
    const second = shown('open', 0, { disputeToken: 'dsp_2', amount: 100 });
    const history = [...inReview, ...eventsOf(inReview, second)];
    expect(paymentAfter(history).reviews).toMatchObject([
      { evidence: { disputeToken: 'dsp_1' } },
      { evidence: { disputeToken: 'dsp_2' } },
    ]);
  });

  test.each([
    ['dispute_won', 'DisputeWon', 1000],
    ['dispute_lost', 'DisputeLost', 600],
  ] as const)(
    'may be ended by an operator as %s, if the list does not show the decision',
    (resolution, type, left) => {
      const events = eventsOf(inReview, resolve('dispute_opened', resolution));
      expect(events.slice(1)).toEqual([recorded(type)]);
      expect(refundableAmount(paymentAfter([...inReview, ...events]))).toBe(left);
      // A later state in the list prevails.
      const later = shown(resolution === 'dispute_won' ? 'lost' : 'won', 1);
      expect(disputeEventsOf([...inReview, ...events], later)).toHaveLength(1);
    },
  );

  test('may be acknowledged, which frees nothing', () => {
    const history = [...inReview, ...eventsOf(inReview, resolve('dispute_opened', 'acknowledged'))];
    const payment = paymentAfter(history);
    expect(payment.reviews).toEqual([]);
    expect(refundableAmount(payment)).toBe(600);
    expect(eventsOf(history, shown('open', 1))).toEqual([]);
    given(inReview).when(resolve('dispute_opened', 'keep_ours')).thenRefused('resolution_not_allowed');
  });
});

// The provider shows a disputed payment unchanged: approved, with the previous sums.
test.each([
  ['open', open],
  ['lost', lost],
])('an inquiry of a payment whose dispute is %s finds no discrepancy', (_, history) =>
  given(history)
    .when(inquired(observed('approved')))
    .thenNothing(),
);

test('a payment that is not paid here may be disputed', () => {
  const history = [requested(), sampleEvents.AttemptAccepted, ...eventsOf(historyTo.init, shown('open'))];
  expect(disputedAmount(paymentAfter(history))).toBe(400);
});
