/** Operators' queries: open work, and counts of payments. */
import { disputeKind, paymentKind, payoutKind } from '@tollgate/views';
import {
  type AnyEvent,
  disputeHappening,
  disputeOpened,
  happening,
  payoutHappening,
  payoutRequested,
  requested,
} from '@tollgate/views/testing';
import { describe, expect, test } from 'vitest';
import { disputesOfPayment, listOf } from './index-lists.ts';
import { type CountQuery, countPayments, workloadIn } from './index-operators.ts';
import {
  type TestIndexFile,
  givenExplainedFile,
  givenFile,
  pageOf,
  viewOf,
} from './testing/open-index-file.ts';
import type { ListQuery } from './list-page.ts';

const {
  accepted,
  approved,
  declined,
  refundedElsewhere,
  refunding,
  refundAccepted,
  refundApproved,
  unresolved,
} = happening;
const shop = { environment: 'sandbox', team: 'shop' } as const;
const games = { ...shop, team: 'games' };

const payment = (token: string, ...events: AnyEvent[]) =>
  viewOf(paymentKind, token, [requested(), ...events]);

function listed(file: TestIndexFile, query: Partial<ListQuery>): string[] {
  const list = listOf('payments', [paymentKind])(file, { perPage: 20, ...query, owners: [shop, games] });
  return pageOf(list).views.map(({ token }) => token);
}

describe('open work', () => {
  const open = [accepted, approved, refunding];
  const views = [
    payment('pay_1', unresolved),
    payment('pay_2', accepted),
    payment('pay_3', ...open),
    payment('pay_4', ...open, refundAccepted),
    payment('pay_5', ...open, refundApproved),
  ];

  test('is listed: calls without a known outcome, and undecided refunds', () => {
    const file = givenFile(views);
    expect(listed(file, { unresolved: true }).toSorted()).toEqual(['pay_1', 'pay_3']);
    expect(listed(file, { refundOpen: true }).toSorted()).toEqual(['pay_3', 'pay_4']);
    expect(listed(file, { refundOpen: true, unresolved: true })).toEqual(['pay_3']);
    expect(listed(file, { unresolved: true, status: 'approved', currency: 'EUR' })).toEqual(['pay_3']);
    file.plant([payment('pay_3', ...open, refundApproved)]);
    expect(listed(file, { unresolved: true })).toEqual(['pay_1']);
    expect(listed(file, { refundOpen: true })).toEqual(['pay_4']);
  });

  test('is read from its own index, in the order of the list', async () => {
    const { file, steps: plans } = await givenExplainedFile(views);
    listed(file, { unresolved: true });
    listed(file, { refundOpen: true });
    expect(plans.join('\n')).not.toContain('TEMP B-TREE');
    expect(new Set(plans)).toEqual(
      new Set(
        ['unresolved', 'refund_open'].map(
          (name) => `SEARCH payments USING COVERING INDEX payments_${name} (environment=? AND team=?)`,
        ),
      ),
    );
  });
});

test('open work and open reviews are counted over all teams', () => {
  const { reviews, reviewResolved } = happening;
  const pay3 = [requested(), accepted, reviews];
  const file = givenFile([
    payment('pay_1'),
    viewOf(paymentKind, 'pay_2', [requested({ team: 'games' }), accepted]),
    viewOf(paymentKind, 'pay_3', pay3),
    payment('pay_4', accepted, approved, reviews, reviews),
    viewOf(payoutKind, 'po_1', [payoutRequested(), payoutHappening.reviews]),
  ]);
  const open = (...counts: number[]) =>
    (['payment', 'payout'] as const).flatMap((kind, at) => [
      { kind, inquiryNeed: 'unresolved', count: counts[2 * at] },
      { kind, inquiryNeed: 'open', count: counts[2 * at + 1] },
    ]);
  const reviewsOf = (kind: string, count: number) => ({ kind, environment: 'sandbox', count });
  expect(workloadIn(file)).toEqual({
    open: open(1, 2, 1, 0),
    reviews: [reviewsOf('payment', 3), reviewsOf('payout', 1)],
    overdrawn: [],
  });
  file.plant([payment('pay_2', accepted, approved), viewOf(paymentKind, 'pay_3', [...pay3, reviewResolved])]);
  expect(workloadIn(file)).toEqual({
    open: open(1, 1, 1, 0),
    reviews: [reviewsOf('payment', 2), reviewsOf('payout', 1)],
    overdrawn: [],
  });
});

// A refund after a payout opened no review, and nothing showed that the wallet was overdrawn.
test('a wallet is counted as overdrawn until new payments cover it', () => {
  const paidOut = viewOf(payoutKind, 'po_1', [
    payoutRequested(),
    payoutHappening.accepted,
    payoutHappening.approved,
  ]);
  const file = givenFile([payment('pay_1', accepted, approved), paidOut]);
  expect(workloadIn(file).overdrawn).toEqual([]);
  file.plant([payment('pay_1', accepted, approved, { ...refundedElsewhere, data: { amount: 1_500 } })]);
  expect(workloadIn(file).overdrawn).toEqual([{ environment: 'sandbox', count: 1 }]);
  file.plant([payment('pay_2', accepted, approved)]);
  expect(workloadIn(file).overdrawn).toEqual([]);
});

test('payments are counted by hour and phase, in groups, out of one index', async () => {
  const poor = (token: string, team = 'shop') =>
    viewOf(paymentKind, token, [requested({ team }), accepted, declined]);
  const lost = { ...declined, data: { declineReason: 'lost card' } };
  const unnamed = { ...declined, data: {} };
  const { file, steps } = await givenExplainedFile([
    ...[poor('pay_1'), poor('pay_2', 'games'), payment('pay_3', accepted, lost)],
    ...[payment('pay_4', accepted, unnamed), payment('pay_5', accepted, approved)],
  ]);
  const { createdAt } = poor('pay_1').view;
  const stepMs = 3_600_000;
  const within = { createdFrom: createdAt, createdBefore: createdAt + 1, stepMs };
  const counted = (owner: typeof shop | typeof games, more: Partial<CountQuery> = {}) =>
    countPayments(file, owner, { ...within, ...more }).map(({ phase, group, count }) => [
      phase,
      group,
      count,
    ]);
  expect(counted(shop)).toEqual([
    ['approved', undefined, 1],
    ['declined', undefined, 3],
  ]);
  expect(counted(shop, { by: 'reason' })).toEqual([
    ['approved', undefined, 1],
    ['declined', undefined, 1],
    ['declined', 'insufficient funds', 1],
    ['declined', 'lost card', 1],
  ]);
  expect(counted(games, { by: 'currency' })).toEqual([['declined', 'EUR', 1]]);
  expect(counted(games, { by: 'account' })).toEqual([['declined', expect.any(String), 1]]);
  expect(counted(shop, { createdFrom: createdAt + 1 })).toEqual([]);
  expect(counted(shop, { createdBefore: createdAt })).toEqual([]);
  expect(countPayments(file, games, within)[0]?.at).toBe(Math.floor(createdAt / stepMs) * stepMs);
  expect(steps.filter((step) => step.includes('payments') && !step.includes('COVERING'))).toEqual([]);
});

test('the disputes of a payment are found by it, including those matched later', () => {
  const matched = [disputeOpened(), disputeHappening.matched];
  const file = givenFile([
    viewOf(disputeKind, 'dsp_1', [disputeOpened({ team: 'shop', paymentToken: 'pay_1', openedAt: 2 })]),
    viewOf(disputeKind, 'dsp_2', [disputeOpened()]),
  ]);
  const tokens = () => disputesOfPayment(file, 'pay_1').map(({ token }) => token);
  expect(tokens()).toEqual(['dsp_1']);
  file.plant([viewOf(disputeKind, 'dsp_2', matched)]);
  expect(tokens()).toEqual(['dsp_1', 'dsp_2']);
  expect(disputesOfPayment(file, 'pay_2')).toEqual([]);
});
