import { StoreUnavailable } from '@tollgate/event-store';
import { refundKeyStream, type RefundKey } from '@tollgate/core';
import { disputeKind, payoutKind, unmatchedKind } from '@tollgate/views';
import {
  appendEvents,
  appendPayment,
  disputeOpened,
  happening,
  payoutHappening,
  payoutRequested,
  planted,
  processingUrl,
  requested,
  startedAt,
} from '@tollgate/views/testing';
import { systemClock } from '@tollgate/service-kit';
import { describe, expect, test } from 'vitest';
import {
  errorsOf,
  games,
  given,
  notFound,
  payoutsOnly,
  refundsOnly,
  refused,
  start,
  stuck,
  adminOnly,
  shop,
  withoutScope,
  type Given,
} from './testing/harness.ts';

const { accepted, approved, refundAccepted, refundDeclined, refundUnresolved, refunding, reviews } =
  happening;
const payoutNotFound = refused(404, 'payout_not_found', 'invalid_request_error', 'token');
const refundNotFound = refused(404, 'refund_not_found', 'invalid_request_error', 'refundToken');
const scopeMissing = refused(403, 'scope_missing', 'authentication_error');
const at = (number: number) => new Date(startedAt + number * 1_000).toISOString();

const urls = {
  payouts: ['/api/v1/payouts', '/api/v1/payouts/po_1', '/api/v1/payouts/po_1/events'],
  refunds: ['/api/v1/refunds/ref_1'],
  others: ['/api/v1/disputes', '/api/v1/disputes/list', '/api/v1/reviews'],
};
const allUrls = Object.values(urls).flat();

const useRefundKey = ({ store }: Given, refundToken: string, key: Partial<RefundKey> = {}) => {
  const data = { environment: 'sandbox', team: 'shop', paymentToken: 'pay_1', fingerprint: planted, ...key };
  return appendEvents(store, refundKeyStream(refundToken), [{ type: 'RefundKeyUsed', data }]);
};

describe('each route', () => {
  test.each(allUrls)('%s wants a key', async (url) => {
    const { getAs } = await start();
    const missing = refused(401, 'auth_header_not_found', 'authentication_error');
    expect(errorsOf(await getAs(undefined)(url))).toEqual(missing);
  });

  test('requires one of its scopes', async () => {
    const { getAs } = await start();
    const statusOf = async (key: string, url: string) => (await getAs(key)(url)).statusCode;
    for (const url of allUrls) expect(errorsOf(await getAs(withoutScope)(url)), url).toEqual(scopeMissing);
    for (const url of urls.payouts) {
      expect(await statusOf(payoutsOnly, url), url).not.toBe(403);
      expect(await statusOf(games, url), url).toBe(403);
    }
    for (const url of urls.refunds)
      for (const key of [refundsOnly, games]) expect(await statusOf(key, url), url).toBe(404);
    for (const url of urls.others) {
      expect(await statusOf(games, url), url).toBe(200);
      for (const key of [refundsOnly, payoutsOnly]) expect(await statusOf(key, url), url).toBe(403);
    }
  });

  test('shows reviews to keys that may resolve them', async () => {
    const { getAs } = await start();
    const statusOf = async (url: string) => (await getAs(adminOnly)(url)).statusCode;
    expect(await statusOf('/api/v1/reviews')).toBe(200);
    for (const url of ['/api/v1/disputes', '/api/v1/disputes/list', '/api/v1/disputes/dsp_1'])
      expect(await statusOf(url), url).toBe(403);
  });

  test('waits for a position, and reports when it is not reached', async () => {
    const { get, store } = await start(undefined, { wrapIndex: stuck });
    const { position } = await appendPayment(store, 'pay_0', [requested()]);
    const headers = { 'tollgate-min-position': position };
    const begun = systemClock.monotonic();
    const answers = await Promise.all(
      allUrls.filter((url) => !url.endsWith('/events')).map((url) => get(url, headers)),
    );
    expect(systemClock.monotonic() - begun).toBeGreaterThan(1_900);
    for (const answer of answers)
      expect(errorsOf(answer)).toEqual(refused(503, 'read_model_behind', 'api_error'));
  });

  test.each([...urls.payouts.slice(1), ...urls.refunds])(
    '%s answers during an outage of the store with a retryable error',
    async (url) => {
      const { get } = await start((store) => ({
        ...store,
        read: () => {
          throw new StoreUnavailable('store_down', 'The store is down.');
        },
      }));
      expect(errorsOf(await get(url))).toEqual(refused(503, 'store_unavailable', 'api_error'));
    },
  );

  test('shows no planted secret', async () => {
    const services = await start();
    const { get, store } = services;
    await given(store, { pay_1: [requested(), accepted, approved, refunding, refundAccepted, reviews] });
    await given(
      store,
      { po_1: [payoutRequested(), payoutHappening.refused, payoutHappening.reviews] },
      payoutKind,
    );
    await useRefundKey(services, 'ref_1');
    const opened = disputeOpened({ team: 'shop', paymentToken: 'pay_1' });
    const headers = await given(store, { dsp_1: [opened] }, disputeKind);
    for (const url of [...allUrls, '/api/v1/payments?operationType=all', '/api/v1/payments/po_1']) {
      const answer = await get(url, headers);
      expect(answer.statusCode, url).toBe(200);
      expect(answer.body, url).not.toContain(planted);
    }
  });
});

describe('a refund', () => {
  const url = '/api/v1/refunds/ref_1';
  const submitted = [requested(), accepted, approved, refunding];

  test('is shown with its payment', async () => {
    const services = await start();
    const headers = await given(services.store, { pay_1: [...submitted, refundDeclined] });
    await useRefundKey(services, 'ref_1');
    expect((await services.get(url, headers)).json()).toEqual({
      success: true,
      refund: {
        token: 'ref_1',
        paymentToken: 'pay_1',
        amount: 500,
        currency: 'EUR',
        status: 'declined',
        phase: 'declined',
        createdAt: at(3),
        updatedAt: at(4),
        errors: [{ code: 'incorrect_private_key', kind: 'authentication_error' }],
        reviews: [],
      },
    });
  });

  test('is shown with the reviews that are about it, and with no others', async () => {
    const services = await start();
    const reviewOf = (refundToken: string) =>
      ({ ...reviews, data: { code: 'refund_unresolved', evidence: { refundToken, amount: 500 } } }) as const;
    const history = [...submitted, refundUnresolved, reviewOf('ref_2'), reviews, reviewOf('ref_1')];
    const headers = await given(services.store, { pay_1: history });
    await useRefundKey(services, 'ref_1');
    const { refund } = (await services.get(url, headers)).json();
    expect(refund.status).toBe('pending');
    expect(refund.reviews).toMatchObject([{ code: 'refund_unresolved', number: 3 }]);
  });

  test('is shown even if the read model lags behind it', async () => {
    const services = await start();
    const headers = await given(services.store, { pay_1: [requested(), accepted, approved] });
    await appendPayment(services.store, 'pay_1', [refunding]);
    await useRefundKey(services, 'ref_1');
    expect((await services.get(url, headers)).json()).toMatchObject({ refund: { phase: 'submitted' } });
  });

  test('is not found under a key of another team, for any payment in the request', async () => {
    const services = await start();
    const headers = await given(services.store, { pay_1: submitted });
    await useRefundKey(services, 'ref_1', { team: 'games' });
    expect(errorsOf(await services.get(url, headers))).toEqual(refundNotFound);
  });

  test('is not found if its key was never used, or nothing was submitted under it', async () => {
    const services = await start();
    const headers = await given(services.store, { pay_1: submitted });
    expect(errorsOf(await services.get(url, headers))).toEqual(refundNotFound);
    await useRefundKey(services, 'ref_2');
    await useRefundKey(services, 'ref_3', { paymentToken: 'nobodys' });
    for (const token of ['ref_2', 'ref_3', '..%2f..%2fetc', '*'])
      expect(errorsOf(await services.get(`/api/v1/refunds/${token}`, headers)), token).toEqual(
        refundNotFound,
      );
  });
});

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
    const facts = {
      environment: 'sandbox',
      account: 'main',
      operation: 'payment',
      serviceToken: 'service-token-1234',
      status: 'approved',
      amount: 0,
      refundedAmount: 0,
      currency: 'EUR',
      orderNumber: 'elsewhere-1',
    };
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
        account: 'main',
        operation: 'payment',
        orderNumber: 'elsewhere-1',
        status: 'approved',
        amount: 0,
        refundedAmount: 0,
        currency: 'EUR',
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

test('a payment shows the issued recurring token, and that one was requested', async () => {
  const { get, store } = await start();
  const headers = await given(store, {
    pay_1: [requested({ recurring: true }), accepted, happening.recurringTokenIssued, approved],
    pay_2: [requested({ recurringToken: 'rec_0' }), accepted],
  });
  const shown = async (token: string) => (await get(`/api/v1/payments/${token}`, headers)).json<object>();
  expect(await shown('pay_1')).toMatchObject({ payment: { recurring: true, recurringToken: 'rec_1' } });
  expect(await shown('pay_2')).toMatchObject({ payment: { recurringToken: 'rec_0', processingUrl } });
  expect(await shown('pay_2')).not.toHaveProperty('payment.recurring');
});

describe("another team's objects (I14)", () => {
  test('are not found and in no list', async () => {
    const services = await start();
    const { get, store } = services;
    const [theirs, live] = [{ team: 'games' }, { environment: 'production' as const }];
    await given(store, {
      pay_1: [requested(theirs), accepted, approved, refunding, reviews],
      pay_2: [requested(live), accepted, approved, refunding, reviews],
    });
    const raised = payoutHappening.reviews;
    await given(
      store,
      { po_1: [payoutRequested(theirs), raised], po_2: [payoutRequested(live), raised] },
      payoutKind,
    );
    await appendEvents(store, 'payout-po_3', [payoutRequested(theirs)]);
    await useRefundKey(services, 'ref_1', theirs);
    // A key of ours for their payment, which no command can produce.
    await useRefundKey(services, 'ref_2', { paymentToken: 'pay_2' });
    const headers = await given(
      store,
      { dsp_1: [disputeOpened(theirs)], dsp_2: [disputeOpened({ team: 'shop', ...live })] },
      disputeKind,
    );
    for (const token of ['po_1', 'po_2', 'po_3'])
      for (const url of [`/api/v1/payouts/${token}`, `/api/v1/payouts/${token}/events`])
        expect(errorsOf(await get(url, headers)), url).toEqual(payoutNotFound);
    for (const token of ['po_1', 'po_2', 'po_3'])
      expect(errorsOf(await get(`/api/v1/payments/${token}`, headers))).toEqual(notFound);
    for (const token of ['ref_1', 'ref_2'])
      expect(errorsOf(await get(`/api/v1/refunds/${token}`, headers))).toEqual(refundNotFound);
    for (const [url, name] of [
      ['/api/v1/payouts?withTotal=true', 'payouts'],
      ['/api/v1/payments?operationType=all&withTotal=true', 'payments'],
      ['/api/v1/disputes/list', 'disputes'],
      ['/api/v1/reviews', 'reviews'],
    ] as const)
      expect((await get(url, headers)).json<Record<string, unknown>>()[name], url).toEqual([]);
  });
});
