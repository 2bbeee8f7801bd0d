/** Disagreements between our record of a payout and the provider's: what is recorded, what is reserved, and the resolutions. */
import { scenario } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { observedPayout, payoutAfter, payoutHistoryTo } from '../testing/payout-samples.ts';
import {
  differs,
  missing,
  payoutDomain,
  resolvedAs,
  retrieved,
  retrievedLater,
  second,
} from '../testing/payout-story.ts';
import type { DiscrepancyKind } from '../discrepancy.ts';
import type { PayoutInput } from './payout-commands.ts';
import { payoutResolutionsOf } from './payout-decide.ts';
import type { PayoutEvent } from './payout-events.ts';
import { reservedByPayoutDiscrepancies, type Payout } from './payout-state.ts';

const { given } = scenario({ ...payoutDomain, againGives: () => 'nothing' as const });

const decided = (history: readonly PayoutEvent[], input: PayoutInput): readonly PayoutEvent[] => {
  const decision = payoutDomain.decide(payoutAfter(history), input);
  return decision.kind === 'events' ? decision.events : [];
};
const shows = (status: string, changes: Parameters<typeof observedPayout>[1] = {}) =>
  retrievedLater(observedPayout(status, changes));

/** For a payout of 1,000: phase, provider's record, kind, additional reservation, and whether theirs can be accepted. */
const cases: [Payout['phase'], PayoutInput, DiscrepancyKind, number, boolean][] = [
  ['approved', shows('declined'), 'final_status_revised', 0, true],
  ['approved', shows('pending'), 'final_status_revised', 0, false],
  ['approved', shows('approved', { amount: 1_100 }), 'terms_disagree', 100, true],
  ['approved', shows('approved', { amount: 900 }), 'terms_disagree', 0, true],
  ['approved', shows('on_the_moon'), 'unknown_status', 0, false],
  ['approved', missing(), 'only_here', 0, true],
  ['declined', shows('approved'), 'final_status_revised', 1_000, true],
  ['declined', shows('pending'), 'final_status_revised', 1_000, true],
  ['failed', shows('approved'), 'final_status_revised', 1_000, true],
  ['pending', shows('approved', { amount: 900 }), 'terms_disagree', 0, true],
];

describe('a discrepancy of a payout', () => {
  it.each(cases)(
    'that is %s, shown by %j, is %s and reserves %i',
    (phase, input, kind, reserved, accepts) => {
      const history = [...payoutHistoryTo[phase], ...decided(payoutHistoryTo[phase], input)];
      const payout = payoutAfter(history);
      expect(payout.phase).toBe(phase);
      expect(payout.discrepancies).toMatchObject([{ kind, state: 'open' }]);
      expect(reservedByPayoutDiscrepancies(payout)).toBe(reserved);
      expect(payoutResolutionsOf(payout, payout.reviews[0]!).includes('accept_theirs')).toBe(accepts);
      given(history).when(input).thenNothing();
    },
  );

  it("ends when the provider's record agrees with ours", () => {
    const history = [
      ...payoutHistoryTo.approved,
      differs('final_status_revised', 'approved', observedPayout('declined')),
    ];
    const ended = [...history, ...decided(history, shows('approved'))];
    expect(payoutAfter(ended)).toMatchObject({ discrepancies: [], reviews: [] });
  });

  it('is not a stale read of a payout that was just declined', () => {
    given(payoutHistoryTo.declined)
      .when(retrieved(observedPayout('pending')))
      .thenNothing();
  });
});

// A payout of 500 was delivered twice, and another 500 were paid out: 1,500 of 1,000.
describe('a duplicate payout', () => {
  it('reserves its amount until the provider shows it declined, whatever a key of the team answers', () => {
    const found = [...payoutHistoryTo.approved, second('token-b', 'approved')];
    const kept = [...found, resolvedAs('keep_ours')];
    for (const history of [found, kept])
      expect(reservedByPayoutDiscrepancies(payoutAfter(history))).toBe(1_000);
    const declined = shows('declined', { serviceToken: 'token-b' });
    expect(payoutAfter([...kept, ...decided(kept, declined)]).discrepancies).toEqual([]);
  });

  it('in another currency reserves nothing, nor does one that an operator released', () => {
    const { approved } = payoutHistoryTo;
    const dollars = shows('approved', { serviceToken: 'token-b', currency: 'USD' });
    const found = [...approved, second('token-b', 'approved')];
    const released: PayoutEvent = {
      type: 'ReviewResolved',
      data: { code: 'discrepancy', number: 1, resolution: 'keep_ours', reason: 'ours', releases: true },
    };
    for (const history of [
      [...approved, ...decided(approved, dollars)],
      [...found, released],
    ]) {
      expect(payoutAfter(history).discrepancies).toHaveLength(1);
      expect(reservedByPayoutDiscrepancies(payoutAfter(history))).toBe(0);
    }
  });

  it('keeps its record while theirs of the payout itself is accepted', () => {
    const found = [...payoutHistoryTo.approved, second('token-b', 'approved')];
    for (const [input, becomes] of [
      [shows('approved', { amount: 900 }), { terms: { amount: 900 } }],
      [missing(), { phase: 'declined', terms: { amount: 1_000 } }],
    ] as const) {
      const differing = [...found, ...decided(found, input)];
      const accepted: PayoutInput = {
        type: 'ResolveReview',
        code: 'discrepancy',
        number: 2,
        resolution: 'accept_theirs',
        reason: 'asked them',
      };
      const payout = payoutAfter([...differing, ...decided(differing, accepted)]);
      expect(payout).toMatchObject({ ...becomes, discrepancies: [{ serviceToken: 'token-b' }] });
    }
  });

  it('that was declined is none', () => {
    given(payoutHistoryTo.approved)
      .when(shows('declined', { serviceToken: 'token-b' }))
      .thenNothing();
  });
});
