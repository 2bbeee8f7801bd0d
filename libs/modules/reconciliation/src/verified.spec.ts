import { type Postponed, inquiryDelays, nextInquiryAt } from '@tollgate/core';
import { expect, it } from 'vitest';
import { postponeVerified } from './verified.ts';

const minute = 60_000;
const hour = 60 * minute;
const token = 'pay_1';

/** The fields used here. */
async function postponedAt(age: number, phase = 'approved'): Promise<readonly Postponed[]> {
  const payment = { phase, refunds: [], deferredCallbacks: [] };
  const view = { token, updatedAt: 0, revision: 4, payment };
  const moved: Postponed[] = [];
  await postponeVerified(
    {
      books: { find: (_kind, wanted) => (wanted === token ? (view as never) : undefined) },
      index: { postpone: async (postponed) => void moved.push(...postponed) },
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

it('lets a comparison replace the inquiry that is due soon', async () => {
  expect(await postponedAt(50 * minute)).toEqual(dueAfter(2 * hour));
  expect(await postponedAt(20 * hour)).toEqual(dueAfter(36 * hour));
});

it('leaves an inquiry in the far future alone', async () => {
  expect(await postponedAt(5 * minute)).toEqual(dueAfter(0));
});

it('does not move the inquiry of a payment that is not settled', async () => {
  expect(await postponedAt(50 * minute, 'pending')).toEqual([]);
});
