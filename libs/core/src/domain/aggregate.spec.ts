import { expect, it, describe } from 'vitest';
import { payoutHistoryTo } from './testing/payout-samples.ts';
import { adopted, historyTo, requested, sampleEvents } from './testing/samples.ts';
import {
  type Aggregate,
  type PaymentAggregate,
  type PayoutAggregate,
  type UnmatchedAggregate,
  evolvePaymentAggregate,
  evolvePayoutAggregate,
  evolveUnmatchedAggregate,
  nextRevision,
} from './aggregate.ts';
import { InvariantViolation } from './invariant.ts';
import type { PaymentEvent } from './payment/payment-events.ts';
import type { PayoutEvent } from './payout/payout-events.ts';
import type { UnmatchedEvent } from './unmatched/unmatched.ts';

/** The event of this revision, one second after the previous one. */
const at = <Event>(event: Event, revision: number) => ({
  token: 'tok_1',
  event,
  revision,
  position: String(revision),
  recordedAt: 1_000 * (revision + 1),
});

function after<Event, State extends Aggregate>(
  evolve: (before: State | undefined, happened: ReturnType<typeof at<Event>>) => State,
  history: readonly Event[],
): State {
  let state: State | undefined;
  for (const [revision, event] of history.entries()) state = evolve(state, at(event, revision));
  if (state === undefined) throw new Error('there is no history');
  return state;
}

const paymentAfter = (history: readonly PaymentEvent[]): PaymentAggregate =>
  after<PaymentEvent, PaymentAggregate>(evolvePaymentAggregate, history);

const unmatched: UnmatchedEvent = {
  type: 'UnmatchedObserved',
  data: {
    environment: 'sandbox',
    account: 'main',
    operation: 'payment',
    serviceToken: 's-1',
    status: 'approved',
    amount: 900,
    refundedAmount: 0,
    currency: 'EUR',
  },
};
const reviewOpened = (refundedAmount: number): UnmatchedEvent => ({
  type: 'ReviewOpened',
  data: { code: 'discrepancy', evidence: { serviceToken: 's-1', refundedAmount } },
});
const resolved = (number: number): UnmatchedEvent => ({
  type: 'ReviewResolved',
  data: { code: 'discrepancy', number, resolution: 'keep_ours', reason: 'the old shop' },
});

describe('an aggregate', () => {
  it('has the times and positions of its first and latest event', () => {
    const payment = paymentAfter([requested(), sampleEvents.AttemptAccepted]);
    expect(payment).toMatchObject({
      token: 'tok_1',
      createdAt: 1_000,
      updatedAt: 2_000,
      revision: 1,
      position: '1',
      reviewsSince: [],
      refundTimes: [],
      payment: { phase: 'init' },
    });
  });

  it('expects the event after its latest, and accepts no other', () => {
    const first = paymentAfter([requested()]);
    expect([nextRevision(undefined), nextRevision(first), nextRevision({ revision: 7 })]).toEqual([0, 1, 8]);
    const missing = new InvariantViolation('events are missing before this one');
    expect(() => evolvePaymentAggregate(first, at(sampleEvents.AttemptAccepted, 2))).toThrow(missing);
    expect(() => evolvePaymentAggregate(undefined, at(requested(), 1))).toThrow(missing);
  });

  it("has the provider's creation time only if it was adopted", () => {
    const old = paymentAfter([adopted({ createdAt: 7 })]);
    expect(old).toMatchObject({ createdAt: 7, updatedAt: 1_000 });
  });

  it('has the times of request and last change of each refund', () => {
    const { RefundSubmitted, RefundDeclined } = sampleEvents;
    const again = { ...RefundSubmitted, data: { ...RefundSubmitted.data, refundToken: 'ref_again' } };
    const history = [...historyTo.approved, RefundSubmitted, RefundDeclined, again];
    const second = history.length * 1_000;
    expect(paymentAfter(history).refundTimes).toEqual([
      { createdAt: second - 2_000, updatedAt: second - 1_000 },
      { createdAt: second, updatedAt: second },
    ]);
  });

  it('of a payout', () => {
    expect(
      after<PayoutEvent, PayoutAggregate>(evolvePayoutAggregate, payoutHistoryTo.approved),
    ).toMatchObject({
      token: 'tok_1',
      createdAt: 1_000,
      updatedAt: 3_000,
      revision: 2,
      reviewsSince: [],
      payout: { phase: 'approved' },
    });
  });
});

describe('a review has the time of its opening', () => {
  const afterAll = (...history: readonly UnmatchedEvent[]): UnmatchedAggregate =>
    after<UnmatchedEvent, UnmatchedAggregate>(evolveUnmatchedAggregate, history);

  it('despite later events', () => {
    const aggregate = afterAll(unmatched, reviewOpened(0), unmatched);
    expect(aggregate).toMatchObject({ createdAt: 1_000, updatedAt: 3_000, unmatched: { amount: 900 } });
    expect(aggregate.reviewsSince).toEqual([2_000]);
  });

  it('after a proposal that a second person must confirm', () => {
    const proposed: UnmatchedEvent = {
      type: 'ReviewResolutionProposed',
      data: {
        code: 'discrepancy',
        number: 1,
        resolution: 'keep_ours',
        reason: 'the old shop',
        proposedBy: 'person:ada',
        proposedAt: 3_000,
      },
    };
    const aggregate = afterAll(unmatched, reviewOpened(0), reviewOpened(1), proposed);
    expect(aggregate.reviewsSince).toEqual([2_000, 3_000]);
    expect(aggregate.unmatched.reviews).toMatchObject([
      { number: 1, proposal: { resolution: 'keep_ours', proposedBy: 'person:ada' } },
      { number: 2 },
    ]);
    expect(aggregate.unmatched.reviews[1]).not.toHaveProperty('proposal');
  });

  it('after another one is resolved or opened', () => {
    const two = [unmatched, reviewOpened(0), reviewOpened(1)];
    expect(afterAll(...two).reviewsSince).toEqual([2_000, 3_000]);
    expect(afterAll(...two, resolved(1)).reviewsSince).toEqual([3_000]);
    expect(afterAll(...two, resolved(2)).reviewsSince).toEqual([2_000]);
    expect(afterAll(...two, resolved(1), reviewOpened(2)).reviewsSince).toEqual([3_000, 5_000]);
    expect(afterAll(...two, resolved(1), resolved(2)).reviewsSince).toEqual([]);
  });
});
