import { expect, it, describe } from 'vitest';
import { payoutHistoryTo, payoutRequested, payoutSampleEvents } from './testing/payout-samples.ts';
import { adopted, historyTo, requested, sampleEvents } from './testing/samples.ts';
import {
  type Aggregate,
  type PaymentAggregate,
  type PayoutAggregate,
  evolvePaymentAggregate,
  evolvePayoutAggregate,
  nextRevision,
} from './aggregate.ts';
import { InvariantViolation } from './invariant.ts';
import type { PaymentEvent } from './payment/payment-events.ts';
import type { PayoutEvent } from './payout/payout-events.ts';

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

const reviewOpened = (attempt: number): PayoutEvent => ({
  type: 'ReviewOpened',
  data: { code: 'service_not_readable', evidence: { attempt } },
});
const resolved = (number: number): PayoutEvent => ({
  type: 'ReviewResolved',
  data: { code: 'service_not_readable', number, resolution: 'acknowledged', reason: 'seen' },
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
  const afterAll = (...history: readonly PayoutEvent[]): PayoutAggregate =>
    after<PayoutEvent, PayoutAggregate>(evolvePayoutAggregate, history);

  it('despite later events', () => {
    const aggregate = afterAll(payoutRequested(), reviewOpened(0), payoutSampleEvents.PayoutUnresolved);
    expect(aggregate).toMatchObject({ createdAt: 1_000, updatedAt: 3_000, payout: { phase: 'unresolved' } });
    expect(aggregate.reviewsSince).toEqual([2_000]);
  });

  it('after a proposal that a second person must confirm', () => {
    const proposed: PayoutEvent = {
      type: 'ReviewResolutionProposed',
      data: {
        code: 'service_not_readable',
        number: 1,
        resolution: 'acknowledged',
        reason: 'seen',
        proposedBy: 'person:ada',
        proposedAt: 3_000,
      },
    };
    const aggregate = afterAll(payoutRequested(), reviewOpened(0), reviewOpened(1), proposed);
    expect(aggregate.reviewsSince).toEqual([2_000, 3_000]);
    expect(aggregate.payout.reviews).toMatchObject([
      { number: 1, proposal: { resolution: 'acknowledged', proposedBy: 'person:ada' } },
      { number: 2 },
    ]);
    expect(aggregate.payout.reviews[1]).not.toHaveProperty('proposal');
  });

  it('after another one is resolved or opened', () => {
    const two = [payoutRequested(), reviewOpened(0), reviewOpened(1)];
    expect(afterAll(...two).reviewsSince).toEqual([2_000, 3_000]);
    expect(afterAll(...two, resolved(1)).reviewsSince).toEqual([3_000]);
    expect(afterAll(...two, resolved(2)).reviewsSince).toEqual([2_000]);
    expect(afterAll(...two, resolved(1), reviewOpened(2)).reviewsSince).toEqual([3_000, 5_000]);
    expect(afterAll(...two, resolved(1), resolved(2)).reviewsSince).toEqual([]);
  });
});
