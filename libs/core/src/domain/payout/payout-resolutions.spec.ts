/** The answers of people to the reviews of a payout, and their effects. */
import { describe, expect, it } from 'vitest';
import {
  observedPayout,
  payoutAfter,
  payoutHistoryTo,
  payoutReviewOpened,
} from '../testing/payout-samples.ts';
import { missing, retrievedLater } from '../testing/payout-story.ts';
import { resolvedByAPerson, type Resolution } from '../review.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import type { PayoutInput } from './payout-commands.ts';
import { decidePayout, payoutResolutionsOf } from './payout-decide.ts';
import type { PayoutEvent, PayoutReviewCode } from './payout-events.ts';
import type { PayoutPhase } from './payout-machine.ts';

const answer = (
  code: PayoutReviewCode,
  resolution: Resolution,
  more: Partial<ResolveReview<PayoutReviewCode>> = {},
): ResolveReview<PayoutReviewCode> => ({
  type: 'ResolveReview',
  code,
  number: 1,
  resolution,
  reason: 'asked them',
  ...more,
});
const resolved = (code: PayoutReviewCode, resolution: Resolution, more: object = {}) => ({
  type: 'ReviewResolved',
  data: { code, number: 1, resolution, reason: 'asked them', ...more },
});
const decided = (history: readonly PayoutEvent[], input: PayoutInput) =>
  decidePayout(payoutAfter(history), input);
const eventsOf = (history: readonly PayoutEvent[], input: PayoutInput): readonly PayoutEvent[] => {
  const decision = decided(history, input);
  return decision.kind === 'events' ? decision.events : [];
};
const shows = (status: string, changes: Parameters<typeof observedPayout>[1] = {}) =>
  retrievedLater(observedPayout(status, changes));
const differing = (phase: PayoutPhase, input: PayoutInput): PayoutEvent[] => [
  ...payoutHistoryTo[phase],
  ...eventsOf(payoutHistoryTo[phase], input),
];

describe('a discrepancy of a payout', () => {
  const revised = (
    from: 'approved' | 'declined',
    to: 'approved' | 'declined' | 'pending',
    more: object = {},
  ) => [{ type: 'FinalStatusRevised', data: { from, to, ...more } }];
  const byAPerson = { declineReason: resolvedByAPerson };
  const declined = { type: 'PayoutDeclined', data: byAPerson };

  it.each<[PayoutPhase, PayoutInput, object[]]>([
    ['approved', shows('declined'), revised('approved', 'declined')],
    ['approved', shows('approved', { amount: 1_100 }), []],
    ['approved', missing(), revised('approved', 'declined', byAPerson)],
    ['declined', shows('approved'), revised('declined', 'approved')],
    ['declined', shows('pending'), revised('declined', 'pending')],
    ['failed', shows('approved'), revised('declined', 'approved', { serviceToken: 'token-a' })],
    ['pending', shows('approved', { amount: 900 }), []],
    ['pending', missing(), [declined]],
  ])('of a payout that is %s can be accepted (%#)', (phase, input, effect) => {
    const history = differing(phase, input);
    const [review] = payoutAfter(history).reviews;
    expect(payoutResolutionsOf(payoutAfter(history), review!)).toEqual([
      'accept_theirs',
      'keep_ours',
      'check_again',
    ]);
    const events = eventsOf(history, answer('discrepancy', 'accept_theirs'));
    expect(events).toEqual([resolved('discrepancy', 'accept_theirs'), ...effect]);
    const { terms, discrepancies } = payoutAfter([...history, ...events]);
    const theirs = input.type === 'RecordPayoutObservation' ? input.observed.amount : terms.amount;
    expect([terms.amount, discrepancies]).toEqual([theirs, []]);
  });

  it.each<[PayoutPhase, PayoutInput]>([
    ['approved', shows('pending')],
    ['approved', shows('on_the_moon')],
    ['approved', shows('declined', { currency: 'USD' })],
    ['approved', shows('declined', { orderNumber: 'po_2.1' })],
    ['approved', shows('declined', { amount: 0 })],
    ['approved', shows('approved', { serviceToken: 'token-b' })],
    ['failed', shows('approved', { serviceToken: 'token-b', orderNumber: 'po_2.1' })],
    ['unresolved', shows('approved', { serviceToken: 'token-b', orderNumber: 'po_2.1' })],
    ['declined', missing()],
  ])('of a payout that is %s cannot (%#)', (phase, input) => {
    const history = differing(phase, input);
    const allowed = ['keep_ours', 'check_again'];
    expect(payoutResolutionsOf(payoutAfter(history), payoutAfter(history).reviews[0]!)).toEqual(allowed);
    expect(decided(history, answer('discrepancy', 'accept_theirs'))).toEqual({
      kind: 'refused',
      refusal: { code: 'resolution_not_allowed', allowed },
    });
  });

  const history = differing('approved', shows('declined'));

  it('stays, reserved or released, if our record is kept', () => {
    for (const [more, state] of [[{}, 'kept'] as const, [{ releases: true } as const, 'released'] as const]) {
      const events = eventsOf(history, answer('discrepancy', 'keep_ours', more));
      expect(events).toEqual([resolved('discrepancy', 'keep_ours', more)]);
      expect(payoutAfter([...history, ...events]).discrepancies).toMatchObject([{ state }]);
    }
  });

  it('is reopened if it is to be checked again', () => {
    const events = eventsOf(history, answer('discrepancy', 'check_again'));
    const { discrepancy } = history.at(-1)!.data as { discrepancy: object };
    expect(events).toMatchObject([
      resolved('discrepancy', 'check_again'),
      { type: 'ReviewOpened', data: { discrepancy } },
    ]);
  });

  it('takes a second person if two must agree', () => {
    const by = (name: string) => answer('discrepancy', 'keep_ours', { proposer: { name, at: 5 } });
    const first = eventsOf(history, by('ada'));
    const data = { code: 'discrepancy', number: 1, resolution: 'keep_ours', reason: 'asked them' };
    expect(first).toEqual([
      { type: 'ReviewResolutionProposed', data: { ...data, proposedBy: 'ada', proposedAt: 5 } },
    ]);
    expect(eventsOf([...history, ...first], by('ADA '))).toEqual([]);
    expect(eventsOf([...history, ...first], by('bob'))).toEqual([resolved('discrepancy', 'keep_ours')]);
  });

  it('is found by its number', () => {
    const other = answer('discrepancy', 'keep_ours', { number: 2 });
    expect(decided(history, other)).toEqual({ kind: 'refused', refusal: { code: 'review_not_found' } });
  });
});

describe('the review of a call', () => {
  const notFound = [...payoutHistoryTo.unresolved, payoutReviewOpened('payout_not_found')];

  it.each<[PayoutReviewCode, Resolution[]]>([
    ['payout_not_found', ['check_again', 'payout_not_made']],
    ['service_not_readable', ['check_again', 'acknowledged']],
  ])('%s allows %j', (code, allowed) => {
    expect(payoutResolutionsOf(payoutAfter(notFound), { code, number: 1 })).toEqual(allowed);
  });

  it('of a discrepancy that is no longer open allows no acceptance', () => {
    const unknown = { code: 'discrepancy', number: 9 } as const;
    expect(payoutResolutionsOf(payoutAfter(notFound), unknown)).toEqual(['keep_ours', 'check_again']);
  });

  it('ends with the outcome that it waited for', () => {
    const unreadable = payoutReviewOpened('service_not_readable');
    const found = eventsOf([...notFound, unreadable], shows('approved')).map(({ type, data }) => [
      type,
      (data as { code?: string }).code,
    ]);
    expect(found).toEqual([
      ['PayoutAccepted', undefined],
      ['PayoutApproved', undefined],
      ['ReviewResolved', 'service_not_readable'],
      ['ReviewResolved', 'payout_not_found'],
    ]);
    const notMade = eventsOf([...notFound, unreadable], answer('payout_not_found', 'payout_not_made'));
    expect(notMade.filter(({ type }) => type === 'ReviewResolved')).toHaveLength(2);
  });

  it('ends with the answer: the payout was not made, or is inquired again', () => {
    expect(eventsOf(notFound, answer('payout_not_found', 'payout_not_made'))).toEqual([
      resolved('payout_not_found', 'payout_not_made'),
      { type: 'PayoutFailed', data: { reason: 'resolved' } },
    ]);
    expect(eventsOf(notFound, answer('payout_not_found', 'check_again'))).toEqual([
      resolved('payout_not_found', 'check_again'),
    ]);
  });
});

it.each<PayoutInput>([
  { type: 'GrantPayout', keyId: 'key-2', at: 0 },
  { type: 'RefusePayout', keyId: 'key-2', reason: 'not ours' },
  answer('discrepancy', 'keep_ours'),
])('$type needs a payout', (input) => {
  expect(decidePayout(undefined, input)).toEqual({ kind: 'refused', refusal: { code: 'payout_not_found' } });
});
