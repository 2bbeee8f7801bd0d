import { evolvePayout, type Payout, type PayoutEvent } from '@tollgate/payment-domain';
import { describe, expect, test } from 'vitest';
import { positionOfPayout } from './position.ts';
import { payoutHappening, payoutRequested } from './testing/index.ts';

const { accepted, approved, refused, failed, secondFound } = payoutHappening;

/** Of 300. */
const payoutAfter = (...events: PayoutEvent[]): Payout =>
  events.reduce((state, event) => evolvePayout(state, event), evolvePayout(undefined, payoutRequested()));
const secondOf = (evidence: Record<string, string | number>): PayoutEvent => ({
  type: 'ReviewOpened',
  data: { code: 'second_payout_found', evidence },
});

describe('a second payout', () => {
  test.each([
    ['is held beside the first', [accepted, approved], { available: -700n, hold: 400n }],
    ['is held beside one that is open', [accepted], { available: -700n, hold: 700n }],
    ['is held beside one that has failed', [refused, failed], { available: -400n, hold: 400n }],
  ])('%s', (_, events, sums) => {
    const second = secondOf({ observedStatus: 'pending', observedAmount: 400 });
    expect(positionOfPayout(payoutAfter(...events, second))).toMatchObject(sums);
  });

  test('is held each', () => {
    const second = secondOf({ observedStatus: 'approved', observedAmount: 300 });
    const payout = payoutAfter(accepted, approved, second, second);
    expect(positionOfPayout(payout)).toMatchObject({ available: -900n, hold: 600n });
  });

  test.each([secondFound, ...[-1, 0.5, 2 ** 60].map((observedAmount) => secondOf({ observedAmount }))])(
    'is of as much as the first where nothing likely is known: %j',
    (second) =>
      expect(positionOfPayout(payoutAfter(accepted, approved, second))).toMatchObject({
        ...{ available: -600n, hold: 300n },
      }),
  );

  test('that the service declined is not held, nor one that somebody has answered', () => {
    const declined = secondOf({ observedStatus: 'declined', observedAmount: 300 });
    const data = {
      code: 'second_payout_found',
      number: 1,
      resolution: 'acknowledged',
      reason: 'paid back',
    } as const;
    const answered = payoutAfter(accepted, approved, secondFound, { type: 'ReviewResolved', data });
    for (const payout of [payoutAfter(accepted, approved, declined), answered])
      expect(positionOfPayout(payout)).toMatchObject({ available: -300n, hold: 0n });
  });
});
