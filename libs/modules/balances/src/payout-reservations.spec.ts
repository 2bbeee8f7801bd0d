import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Reservation,
  type ReservationDecision,
  type WalletNow,
  availableIn,
  requireCovered,
  reserve,
} from './payout-reservations.ts';

const wanted = (token: string, amount: number, more: Partial<Reservation> = {}) => ({
  token,
  amount,
  account: 'main',
  fingerprint: token,
  lapsesAt: 1_000,
  currency: 'EUR',
  ...more,
});

const walletOf = (available: number, more: Partial<WalletNow> = {}): WalletNow => ({
  byAccount: new Map([['main', { available: BigInt(available), hold: 0n }]]),
  recorded: new Set(),
  lapsed: new Set(),
  ...more,
});

const reserved = (decision: ReservationDecision): readonly Reservation[] => {
  if (decision.kind !== 'reserved') throw new Error(JSON.stringify(decision));
  return decision.reservations;
};
const exceeding = (availableAmount: number) => ({
  kind: 'refused',
  refusal: { code: 'payout_exceeds_position', availableAmount, currency: 'EUR' },
});

describe('a reservation', () => {
  it('takes all that is left, and nothing beyond it', () => {
    const list = reserved(reserve([], wanted('po_1', 60), walletOf(100)));
    expect(reserve(list, wanted('po_2', 41), walletOf(100))).toEqual(exceeding(40));
    expect(
      availableIn('main', reserved(reserve(list, wanted('po_2', 40), walletOf(100))), walletOf(100)),
    ).toBe(0n);
  });

  it('is of one account: what is in another one is not there', () => {
    expect(reserve([], wanted('po_1', 1, { account: 'other' }), walletOf(100))).toEqual(exceeding(0));
  });

  it('is made once for a token, and lasts as long as the latest of its requests', () => {
    const list = reserved(reserve([], wanted('po_1', 100), walletOf(100)));
    expect(reserve(list, wanted('po_1', 100), walletOf(100))).toEqual({ kind: 'unchanged' });
    const longer = reserved(reserve(list, wanted('po_1', 100, { lapsesAt: 2_000 }), walletOf(100)));
    expect(longer).toMatchObject([{ lapsesAt: 2_000 }]);
  });

  it.each<Partial<Reservation>>([{ amount: 90 }, { account: 'other' }, { fingerprint: 'another' }])(
    'of other terms under the same token waits: %j',
    (change) => {
      const list = reserved(reserve([], wanted('po_1', 10), walletOf(100)));
      expect(reserve(list, wanted('po_1', 10, change), walletOf(100))).toEqual({
        kind: 'refused',
        refusal: { code: 'operation_in_progress' },
      });
    },
  );

  it('ends when its payout is recorded, which counts by itself', () => {
    const list = reserved(reserve([], wanted('po_1', 60), walletOf(100)));
    const isRecorded = { recorded: new Set(['po_1']) };
    expect(reserve(list, wanted('po_1', 60), walletOf(40, isRecorded))).toEqual({ kind: 'unchanged' });
    expect(reserved(reserve(list, wanted('po_2', 40), walletOf(40, isRecorded)))).toMatchObject([
      { token: 'po_2' },
    ]);
  });

  it('ends when its payout cannot be sent any more', () => {
    const list = reserved(reserve([], wanted('po_1', 60), walletOf(100)));
    expect(reserve(list, wanted('po_2', 100), walletOf(100))).toEqual(exceeding(40));
    const later = reserve(
      list,
      wanted('po_2', 100, { lapsesAt: 2_000 }),
      walletOf(100, { lapsed: new Set(['po_1']) }),
    );
    expect(reserved(later)).toMatchObject([{ token: 'po_2' }]);
  });

  it('is none where more went back than was left', () => {
    expect(reserve([], wanted('po_1', 1), walletOf(-5))).toEqual(exceeding(0));
  });
});

describe('a payout that was recorded when it was asked for', () => {
  const payout = { account: 'main', amount: 60, currency: 'EUR' };
  const recorded = new Set(['po_1']);

  it('is covered while nothing is short with it, and the list is written as it stands', () => {
    const list = reserved(reserve([], wanted('po_2', 40), walletOf(100)));
    expect(requireCovered(list, payout, walletOf(40, { recorded }))).toEqual({
      kind: 'reserved',
      reservations: list,
    });
    expect(
      reserved(requireCovered(list, payout, walletOf(0, { recorded, lapsed: new Set(['po_2']) }))),
    ).toEqual([]);
  });

  it('is not where money went back, or others have reserved it: what is left may be paid out', () => {
    expect(requireCovered([], payout, walletOf(-1, { recorded }))).toEqual(exceeding(59));
    expect(requireCovered([], payout, walletOf(-61, { recorded }))).toEqual(exceeding(0));
    const list = reserved(reserve([], wanted('po_2', 40), walletOf(100)));
    expect(requireCovered(list, payout, walletOf(39, { recorded }))).toEqual(exceeding(59));
  });

  it('is of one account', () => {
    const other = { ...payout, account: 'other' };
    expect(requireCovered([], other, walletOf(-1, { recorded })).kind).toBe('reserved');
  });
});

/** What may happen to a wallet, in any order. */
type Step =
  | { do: 'reserve' | 'record' | 'fail'; token: string; amount: number }
  | { do: 'approve' | 'pass'; amount: number };

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('reserve' as const, 'record' as const, 'fail' as const),
    token: fc.constantFrom('po_1', 'po_2', 'po_3', 'po_4'),
    amount: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({
    do: fc.constantFrom('approve' as const, 'pass' as const),
    amount: fc.integer({ min: 1, max: 100 }),
  }),
);

it('never holds more than was taken, in whatever order payouts are reserved, recorded and fail', () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { maxLength: 60 }), (steps) => {
      let [taken, now] = [0, 0];
      let list: readonly Reservation[] = [];
      const payouts = new Map<string, { amount: number; isFailed: boolean }>();
      const paidOut = () =>
        [...payouts.values()].reduce((sum, each) => sum + (each.isFailed ? 0 : each.amount), 0);
      const wallet = () =>
        walletOf(taken - paidOut(), {
          lapsed: new Set(list.filter(({ lapsesAt }) => now >= lapsesAt).map(({ token }) => token)),
          recorded: new Set(payouts.keys()),
        });
      for (const step of steps) {
        if (step.do === 'approve') taken += step.amount;
        else if (step.do === 'pass') now += step.amount * 20;
        else if (!('token' in step)) continue;
        else if (step.do === 'reserve') {
          const decision = reserve(
            list,
            wanted(step.token, step.amount, { lapsesAt: now + 1_000 }),
            wallet(),
          );
          if (decision.kind === 'reserved') list = decision.reservations;
        } else if (step.do === 'record') {
          // Only what is reserved is announced, with the amount that is reserved, and before it lapses.
          const held = list.find(({ token, lapsesAt }) => token === step.token && now < lapsesAt);
          if (held !== undefined && !payouts.has(step.token))
            payouts.set(step.token, { amount: held.amount, isFailed: false });
        } else {
          const made = payouts.get(step.token);
          if (made !== undefined) made.isFailed = true;
        }
        expect(availableIn('main', list, wallet())).toBeGreaterThanOrEqual(0n);
        expect(paidOut()).toBeLessThanOrEqual(taken);
      }
    }),
  );
});
