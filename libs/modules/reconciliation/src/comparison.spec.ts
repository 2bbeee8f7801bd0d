import { describe, expect, it } from 'vitest';
import { isSame, standingThere, sumsOf } from './comparison.ts';

const standing = (status: string, amount = 100, refundedAmount: number | null = 0) => ({
  status,
  amount,
  refundedAmount,
});

describe("the provider's row", () => {
  it.each([
    ['a partial refund as refunded', standing('refunded', 100, 40), standing('approved', 100, 40)],
    ['a refund without its sum', standing('refunded', 100, null), standing('refunded', 100, null)],
    ['a refund of nothing', standing('refunded', 100, 0), standing('refunded', 100, null)],
    ['no sum', standing('approved', 100, null), standing('approved', 100, null)],
    ['a whole refund', standing('refunded', 100, 100), standing('refunded', 100, 100)],
    ['what was paid', standing('approved'), standing('approved')],
    ['an unknown status', standing('on_the_moon'), standing('on_the_moon')],
  ])('is read alike: %s', (_, shown, read) => {
    expect(standingThere(shown)).toEqual(read);
  });

  it.each([
    [
      'a part of our refunds',
      standing('refunded', 100, null),
      standing('approved', 100, 40),
      standing('approved', 100, 40),
    ],
    [
      'all our refunds',
      standing('refunded', 100, null),
      standing('refunded', 100, 100),
      standing('refunded', 100, 100),
    ],
    ['none of our refunds', standing('refunded', 100, null), standing('approved'), standing('refunded')],
    [
      'a part, not said',
      standing('approved', 100, null),
      standing('approved', 100, 40),
      standing('approved', 100, 40),
    ],
  ])('uses the sum of our books if it shows none: %s', (_, shown, here, read) => {
    expect(standingThere(shown, here)).toEqual(read);
  });
});

describe('both sides', () => {
  it('agree if status, amount and refunded sum are equal', () => {
    expect(isSame(standing('approved', 100, 40), standing('approved', 100, 40))).toBe(true);
    expect(isSame(standing('approved'), standing('declined'))).toBe(false);
    expect(isSame(standing('approved'), standing('approved', 99))).toBe(false);
    expect(isSame(standing('approved', 100, 40), standing('approved', 100, 41))).toBe(false);
  });

  it.each(['declined', 'expired'])('agree about a payment that is %s, with any amount', (status) => {
    expect(isSame(standing(status), standing(status, 1))).toBe(true);
  });

  it('are summed up if money was taken', () => {
    const here = standing('refunded', 100, 100);
    const there = standing('approved', 100, 40);
    expect(sumsOf('payment', 'EUR', { here, there })).toEqual({
      currency: 'EUR',
      paymentsHere: 100,
      paymentsThere: 100,
      refundsHere: 100,
      refundsThere: 40,
      payoutsHere: 0,
      payoutsThere: 0,
    });
    expect(
      sumsOf('payout', 'EUR', { here: standing('approved'), there: standing('declined') }),
    ).toMatchObject({
      paymentsHere: 0,
      payoutsHere: 100,
      payoutsThere: 0,
    });
  });
});
