import { payoutKind, unmatchedKind } from '@tollgate/views';
import { happening, payoutHappening, payoutRequested, requested, startedAt } from '@tollgate/views/testing';
import { describe, expect, test } from 'vitest';
import { adminOnly, games, given, shop, start } from './testing/harness.ts';

const { accepted, approved, reviews } = happening;
const at = (number: number) => new Date(startedAt + number * 1_000).toISOString();

describe('an open review', () => {
  const { unresolved, reviews: raised } = payoutHappening;

  async function givenSome(team: string) {
    const services = await start();
    const { store } = services;
    await given(store, { pay_1: [requested({ team, orderNumber: 'A' }), accepted, approved, reviews] });
    await given(store, { pay_2: [requested({ team }), accepted] });
    const headers = await given(store, { po_1: [payoutRequested({ team }), unresolved, raised] }, payoutKind);
    return { ...services, headers };
  }

  test('is listed oldest first, with the evidence and the allowed resolutions', async () => {
    const { get, headers } = await givenSome('shop');
    expect((await get('/api/v1/reviews', headers)).json()).toEqual({
      success: true,
      perPage: 20,
      reviews: [
        {
          token: 'po_1',
          kind: 'payout',
          code: 'payout_not_found',
          since: at(2),
          evidence: { serviceToken: '…4321' },
          number: 1,
          resolutions: ['check_again', 'payout_not_made'],
          orderNumber: 'P-1',
          amount: 300,
          currency: 'EUR',
          status: 'pending',
          phase: 'unresolved',
        },
        {
          token: 'pay_1',
          kind: 'payment',
          code: 'discrepancy',
          since: at(3),
          evidence: { kind: 'second_payment_found', serviceToken: '…1234' },
          number: 1,
          resolutions: ['keep_ours', 'check_again'],
          orderNumber: 'A',
          amount: 1_500,
          currency: 'EUR',
          status: 'approved',
          phase: 'approved',
        },
      ],
    });
  });

  test('of an operation that only the provider has is shown to the only team of the account, and to its admins', async () => {
    const { store, getAs } = await start();
    const shown = { account: 'main', operation: 'payment', orderNumber: 'elsewhere-1', status: 'approved' };
    const amounts = { amount: 0, refundedAmount: 0, currency: 'EUR' };
    const facts = { environment: 'sandbox', serviceToken: 'service-token-1234', ...shown, ...amounts };
    const opened = {
      type: 'ReviewOpened',
      data: {
        code: 'discrepancy',
        evidence: { kind: 'only_at_service', serviceToken: 'service-token-1234' },
      },
    };
    const observed = (team?: string) => ({ type: 'UnmatchedObserved', data: { ...facts, team } });
    const histories = {
      unm_1: [observed('desk'), opened],
      unm_2: [observed('shop'), opened],
      unm_3: [observed(), opened],
    };
    const headers = await given(store, histories, unmatchedKind);
    const { reviews } = (await getAs(adminOnly)('/api/v1/reviews', headers)).json<{ reviews: object[] }>();
    expect(reviews).toEqual([
      {
        token: 'unm_1',
        kind: 'unmatched',
        code: 'discrepancy',
        number: 1,
        since: at(1),
        evidence: { kind: 'only_at_service', serviceToken: '…1234' },
        resolutions: ['accept_theirs', 'keep_ours'],
        ...shown,
        ...amounts,
      },
    ]);
    expect((await getAs(shop)('/api/v1/reviews', headers)).json()).toMatchObject({ reviews: [] });
  });

  test('is continued by cursor', async () => {
    const { get, headers } = await givenSome('shop');
    const first = (await get('/api/v1/reviews?perPage=1', headers)).json<{ nextCursor: string }>();
    expect(first).toMatchObject({ reviews: [{ token: 'po_1' }], perPage: 1 });
    const second = await get(`/api/v1/reviews?perPage=1&cursor=${first.nextCursor}`, headers);
    expect(second.json()).toMatchObject({ reviews: [{ token: 'pay_1' }] });
    expect(second.json()).not.toHaveProperty('nextCursor');
  });

  test('is shown for payments alone to a key that may not read payouts', async () => {
    const { getAs, headers } = await givenSome('games');
    const answer = await getAs(games)('/api/v1/reviews', headers);
    expect(answer.json()).toMatchObject({ reviews: [{ token: 'pay_1' }] });
  });
});
