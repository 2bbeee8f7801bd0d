import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cap, leftOf, type Reservation, type ReservationDecision, reserve } from './reservations.ts';

const wanted = (token: string, amount: number, more: Partial<Reservation> = {}): Reservation => ({
  token,
  subject: token,
  operation: 'payout',
  team: 'demo',
  keyId: 'k',
  account: 'main',
  amount,
  day: '2026-01-01',
  fingerprint: token,
  lapsesAt: 1_000,
  ...more,
});

const available = (left: number, account = 'main'): Cap => ({
  left: BigInt(left),
  counts: (each) => each.account === account,
  refusal: (availableAmount) => ({ code: 'payout_exceeds_balance', availableAmount, currency: 'EUR' }),
});
const daily = (left: number, day = '2026-01-01'): Cap => ({
  left: BigInt(left),
  counts: (each) => each.day === day,
  refusal: (amount) => ({
    code: 'daily_limit_exceeded',
    of: 'team',
    operation: 'payout',
    currency: 'EUR',
    limit: 100,
    left: { amount, until: 0 },
  }),
});

function reserved(decision: ReservationDecision): readonly Reservation[] {
  if (decision.kind !== 'reserved') throw new Error(JSON.stringify(decision));
  return decision.reservations;
}
const exceeding = (availableAmount: number) => ({
  kind: 'refused',
  refusal: { code: 'payout_exceeds_balance', availableAmount, currency: 'EUR' },
});

describe('a reservation', () => {
  it('takes exactly the rest', () => {
    const open = reserved(reserve([], wanted('po_1', 60), [available(100)]));
    expect(reserve(open, wanted('po_2', 41), [available(100)])).toEqual(exceeding(40));
    const both = reserved(reserve(open, wanted('po_2', 40), [available(100)]));
    expect(leftOf(available(100), both)).toBe(0n);
  });

  it('counts under its own caps: of its account, and of its day', () => {
    const open = [wanted('po_1', 60, { account: 'other' }), wanted('po_2', 60, { day: '2025-12-31' })];
    expect(reserve(open, wanted('po_3', 40), [available(100), daily(100)]).kind).toBe('reserved');
    expect(reserve(open, wanted('po_3', 41), [available(100)])).toEqual(exceeding(40));
    expect(reserve(open, wanted('po_3', 41), [daily(100)])).toMatchObject({
      refusal: { code: 'daily_limit_exceeded', left: { amount: 40 } },
    });
  });

  it('is made once per token, with the largest amount and the latest end of its requests', () => {
    const open = reserved(reserve([], wanted('ref_1', 60), [daily(100)]));
    for (const same of [wanted('ref_1', 60), wanted('ref_1', 50, { lapsesAt: 900 })])
      expect(reserve(open, same, [daily(0)])).toEqual({ kind: 'unchanged' });
    const longer = reserve(open, wanted('ref_1', 50, { lapsesAt: 2_000 }), [daily(100)]);
    expect(reserved(longer)).toMatchObject([{ amount: 60, lapsesAt: 2_000 }]);
    const greater = reserve(open, wanted('ref_1', 70), [daily(100)]);
    expect(reserved(greater)).toMatchObject([{ amount: 70, lapsesAt: 1_000 }]);
    expect(reserve(open, wanted('ref_1', 101), [daily(100)]).kind).toBe('refused');
  });

  it.each<Partial<Reservation>>([{ account: 'other' }, { fingerprint: 'another' }, { keyId: 'another' }])(
    'of another request under the same token waits: %j',
    (change) => {
      expect(reserve([wanted('po_1', 10)], wanted('po_1', 10, change), [available(100)])).toEqual({
        kind: 'refused',
        refusal: { code: 'operation_in_progress' },
      });
    },
  );

  it('leaves nothing if more was refunded than was left', () => {
    expect(reserve([], wanted('po_1', 1), [available(-5)])).toEqual(exceeding(0));
  });
});

/** Random actions on a wallet. */
type Step =
  | { do: 'reserve' | 'record' | 'fail' | 'lapse'; token: string; amount: number }
  | { do: 'approve'; amount: number };

const tokens = ['po_1', 'po_2', 'po_3', 'po_4'] as const;
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('reserve' as const, 'record' as const, 'fail' as const, 'lapse' as const),
    token: fc.constantFrom(...tokens),
    amount: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({ do: fc.constant('approve' as const), amount: fc.integer({ min: 1, max: 100 }) }),
);

it('keeps payouts within income and the daily limit, in any order of reservations and ends', () => {
  const perDay = 150;
  fc.assert(
    fc.property(fc.array(stepArbitrary, { maxLength: 60 }), (steps) => {
      let taken = 0;
      let open: readonly Reservation[] = [];
      const made = new Map<string, { amount: number; hasFailed: boolean }>();
      const paidOut = () =>
        [...made.values()].reduce((sum, { amount, hasFailed }) => sum + (hasFailed ? 0 : amount), 0);
      const caps = () => [available(taken - paidOut()), daily(perDay - paidOut())];
      for (const step of steps) {
        if (step.do === 'approve') {
          taken += step.amount;
        } else if (step.do === 'reserve' && !made.has(step.token)) {
          const decision = reserve(open, wanted(step.token, step.amount), caps());
          if (decision.kind === 'reserved') open = decision.reservations;
        } else if (step.do === 'record') {
          // Only a reserved payout is announced. From then on the ledger counts it.
          const mine = open.find(({ token }) => token === step.token);
          if (mine !== undefined) made.set(step.token, { amount: mine.amount, hasFailed: false });
          open = open.filter((each) => each !== mine);
        } else if (step.do === 'lapse') {
          open = open.filter(({ token }) => token !== step.token);
        } else {
          made.set(step.token, { amount: 0, ...made.get(step.token), hasFailed: true });
        }
        for (const cap of caps()) expect(leftOf(cap, open)).toBeGreaterThanOrEqual(0n);
        expect(paidOut()).toBeLessThanOrEqual(Math.min(taken, perDay));
      }
    }),
    { numRuns: propertyRuns(1_000) },
  );
});
