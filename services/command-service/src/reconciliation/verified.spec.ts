import { type Postponed, inquiryDelays, nextInquiryAt } from '@tollgate/payment-domain';
import { expect, it } from 'vitest';
import { postponeVerified } from './verified.ts';

const minute = 60_000;
const hour = 60 * minute;
const token = 'pay_1';

/** Only what is asked of a view. */
function postponedAt(age: number, phase = 'approved'): readonly Postponed[] {
  const payment = { phase, refunds: [], deferredCallbacks: [] };
  const view = { token, updatedAt: 0, revision: 4, payment };
  const moved: Postponed[] = [];
  postponeVerified(
    {
      books: { find: (_kind, wanted) => (wanted === token ? (view as never) : undefined) },
      index: { postpone: (postponed) => void moved.push(...postponed) },
      inquiryDelays,
      clock: { now: () => age },
    },
    [token, 'pay_unknown'],
  );
  return moved;
}

const dueAfter = (after: number) => [
  {
    item: { kind: 'payment', token, revision: 4 },
    dueAt: nextInquiryAt({ token, inquiryNeed: 'settled', updatedAt: 0 }, after),
  },
];

it('lets a comparison stand for the inquiry that would have come soon', () => {
  expect(postponedAt(50 * minute)).toEqual(dueAfter(2 * hour));
  expect(postponedAt(20 * hour)).toEqual(dueAfter(36 * hour));
});

it('leaves the inquiry that is far off where it is', () => {
  expect(postponedAt(5 * minute)).toEqual(dueAfter(0));
});

it('does not move what is not settled', () => {
  expect(postponedAt(50 * minute, 'pending')).toEqual([]);
});
