/** Reads of one payment, payout, refund or dispute by its token. */
import { refundKeyStream, type RefundKey } from '@tollgate/core';
import { StoreUnavailable } from '@tollgate/event-store';
import { appendTeamEvents, keyIssued, keyText } from '@tollgate/teams/testing';
import { eventually } from '@tollgate/testing';
import { disputeKind, payoutKind } from '@tollgate/views';
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
import { describe, expect, test } from 'vitest';
import { errorsOf, games, given, notFound, refused, start, stuck, type Given } from './testing/harness.ts';

const { accepted, approved, refunding, refundDeclined, refundUnresolved, refundAccepted, reviews } =
  happening;
const payoutNotFound = refused(404, 'payout_not_found', 'invalid_request_error', 'token');
const refundNotFound = refused(404, 'refund_not_found', 'invalid_request_error', 'refundToken');
const disputeNotFound = refused(404, 'dispute_not_found', 'invalid_request_error', 'token');
const at = (number: number) => new Date(startedAt + number * 1_000).toISOString();
const submitted = [requested({ orderNumber: 'A' }), accepted, approved, refunding];

const useRefundKey = ({ store }: Given, refundToken: string, key: Partial<RefundKey> = {}) => {
  const data = { environment: 'sandbox', team: 'shop', paymentToken: 'pay_1', fingerprint: planted, ...key };
  return appendEvents(store, refundKeyStream(refundToken), [{ type: 'RefundKeyUsed', data }]);
};

/** One of each, of the team. */
async function givenOneOfEach(...options: Parameters<typeof start>) {
  const services = await start(...options);
  const { store } = services;
  await appendPayment(store, 'pay_1', submitted);
  await useRefundKey(services, 'ref_1');
  await appendEvents(store, 'payout-po_1', [payoutRequested(), payoutHappening.accepted]);
  await appendEvents(store, 'dispute-dsp_1', [disputeOpened({ team: 'shop', paymentToken: 'pay_1' })]);
  return services;
}

const urls = ['payments/pay_1', 'payouts/po_1', 'refunds/ref_1', 'disputes/dsp_1', 'payments/po_1'].map(
  (path) => `/api/v1/${path}`,
);

// Shown as declined, a payment became init again: the index had its beginning only.
test('each is shown with everything recorded before the read, even if the index lags', async () => {
  const { get, store } = await givenOneOfEach(undefined, { wrapIndex: stuck });
  const shown = async (path: string) => (await get(`/api/v1/${path}`)).json<object>();
  expect(await shown('payments/pay_1')).toMatchObject({
    success: true,
    payment: { token: 'pay_1', status: 'approved', orderNumber: 'A', amount: 1_500, revision: 3 },
  });
  const { payout } = (await shown('payouts/po_1')) as { payout: object };
  expect(payout).toEqual({
    token: 'po_1',
    status: 'pending',
    phase: 'pending',
    amount: 300,
    currency: 'EUR',
    orderNumber: 'P-1',
    sanitizedMask: '462734******2639',
    destination: { kind: 'card', sanitizedMask: '462734******2639' },
    reviews: [],
    errors: [],
    createdAt: at(0),
    updatedAt: at(1),
    revision: 1,
  });
  expect(await shown('payments/po_1')).toEqual({
    success: true,
    payment: { ...payout, operationType: 'payout' },
  });
  expect(await shown('refunds/ref_1')).toMatchObject({ refund: { phase: 'submitted' } });
  await appendPayment(store, 'pay_1', [refundDeclined]);
  expect(await shown('refunds/ref_1')).toEqual({
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

test('each carries the position of its last event', async () => {
  const { get } = await givenOneOfEach();
  for (const url of urls) expect((await get(url)).headers['tollgate-position'], url).toMatch(/^\d{16}/);
});

test('a payment shows the issued recurring token, and that one was requested', async () => {
  const { get, store } = await start();
  await given(store, {
    pay_1: [requested({ recurring: true }), accepted, happening.recurringTokenIssued, approved],
    pay_2: [requested({ recurringToken: 'rec_0' }), accepted],
  });
  const shown = async (token: string) => (await get(`/api/v1/payments/${token}`)).json<object>();
  expect(await shown('pay_1')).toMatchObject({ payment: { recurring: true, recurringToken: 'rec_1' } });
  expect(await shown('pay_2')).toMatchObject({ payment: { recurringToken: 'rec_0', processingUrl } });
  expect(await shown('pay_2')).not.toHaveProperty('payment.recurring');
});

test('a refund is shown with the reviews that are about it, and with no others', async () => {
  const services = await start();
  const reviewOf = (refundToken: string) =>
    ({ ...reviews, data: { code: 'refund_unresolved', evidence: { refundToken, amount: 500 } } }) as const;
  const history = [...submitted, refundUnresolved, reviewOf('ref_2'), reviews, reviewOf('ref_1')];
  await appendPayment(services.store, 'pay_1', history);
  await useRefundKey(services, 'ref_1');
  const { refund } = (await services.get('/api/v1/refunds/ref_1')).json();
  expect(refund.status).toBe('pending');
  expect(refund.reviews).toMatchObject([{ code: 'refund_unresolved', number: 3 }]);
});

test('only a key with the scope admin reads the name of the merchant account', async () => {
  const { get, getAs, store } = await start();
  await given(store, { pay_1: [requested()] });
  const headers = await given(store, { po_1: [payoutRequested()] }, payoutKind);
  const admin = { team: 'shop', keyId: 'k9', scopes: ['read', 'admin'] as const };
  await appendTeamEvents(store, 'shop', [keyIssued(admin)]);
  const asAdmin = getAs(`Bearer ${keyText(admin)}`);
  await eventually(async () => expect((await asAdmin('/api/v1/payments')).statusCode).toBe(200));
  for (const path of [
    'payments/pay_1',
    'payments/po_1',
    'payments?operationType=all',
    'payouts/po_1',
    'payouts',
  ]) {
    expect((await get(`/api/v1/${path}`, headers)).body, path).not.toContain('"account":');
    expect((await asAdmin(`/api/v1/${path}`, headers)).body, path).toMatch(/"account":"[^"]+"/);
  }
});

describe('not found', () => {
  test('is one that does not exist, of another team or environment (I14), or of a key that may not read payouts', async () => {
    const services = await givenOneOfEach();
    const { get, getAs, store } = services;
    const [theirs, live] = [{ team: 'games' }, { environment: 'production' as const }];
    for (const [name, owner] of Object.entries({ theirs, live })) {
      await appendPayment(store, `pay_${name}`, [requested(owner), accepted, approved, refunding, reviews]);
      await appendEvents(store, `payout-po_${name}`, [payoutRequested(owner)]);
      await appendEvents(store, `dispute-dsp_${name}`, [disputeOpened({ team: 'shop', ...owner })]);
      // A key of ours for their payment, which no command can produce.
      await useRefundKey(services, `ref_${name}`, { paymentToken: `pay_${name}` });
    }
    await appendEvents(store, 'dispute-dsp_unmatched', [disputeOpened()]);
    await useRefundKey(services, 'ref_foreign', theirs);
    // Nothing was submitted under it.
    await useRefundKey(services, 'ref_2');
    await useRefundKey(services, 'ref_3', { paymentToken: 'nobodys' });
    const any = ['..%2f..%2fetc', '%00', 'x'.repeat(300), 'p1%20', '*', 'nothing'];
    const table: [path: string, tokens: string[], object][] = [
      ['payments/', ['pay_theirs', 'pay_live', 'po_theirs', 'po_live', ...any], notFound],
      ['payouts/', ['po_theirs', 'po_live', 'pay_1', ...any], payoutNotFound],
      ['refunds/', ['ref_theirs', 'ref_live', 'ref_foreign', 'ref_2', 'ref_3', ...any], refundNotFound],
      ['disputes/', ['dsp_theirs', 'dsp_live', 'dsp_unmatched', 'pay_1', ...any], disputeNotFound],
    ];
    for (const [path, tokens, expected] of table)
      for (const token of tokens)
        for (const end of path === 'payments/' || path === 'payouts/' ? ['', '/events'] : [''])
          expect(errorsOf(await get(`/api/v1/${path}${token}${end}`)), `${path}${token}${end}`).toEqual(
            expected,
          );
    expect(errorsOf(await getAs(games)('/api/v1/payments/po_theirs'))).toEqual(notFound);
  });

  test('is not the answer while the store is unavailable', async () => {
    const down = () => {
      throw new StoreUnavailable('store_down', 'The store is down.');
    };
    const { get } = await start((store) => ({ ...store, read: down }));
    for (const url of [...urls, '/api/v1/payouts/po_1/events']) {
      const answer = await get(url);
      expect(errorsOf(answer), url).toEqual(refused(503, 'store_unavailable', 'api_error'));
      expect(answer.headers['retry-after']).toBe('1');
    }
  });
});

test('no answer contains a planted secret', async () => {
  const services = await start();
  const { get, store } = services;
  await given(store, { pay_1: [requested(), accepted, approved, refunding, refundAccepted, reviews] });
  const refusedPayout = [payoutRequested(), payoutHappening.refused, payoutHappening.reviews];
  await given(store, { po_1: refusedPayout }, payoutKind);
  await useRefundKey(services, 'ref_1');
  const opened = disputeOpened({ team: 'shop', paymentToken: 'pay_1' });
  const headers = await given(store, { dsp_1: [opened] }, disputeKind);
  const lists = ['payments?operationType=all', 'payouts', 'refunds', 'disputes', 'disputes/list', 'reviews'];
  const histories = ['payments/pay_1/events', 'payouts/po_1/events'];
  for (const url of [...urls, ...[...lists, ...histories].map((path) => `/api/v1/${path}`)]) {
    const answer = await get(url, headers);
    expect(answer.statusCode, url).toBe(200);
    expect(answer.body, url).not.toContain(planted);
  }
});

test('a poll reads only what was recorded since the last one', async () => {
  const reads: [stream: string, from: number | undefined][] = [];
  const { get, store } = await start((opened) => ({
    ...opened,
    read: (stream, options = {}) => {
      reads.push([stream, options.from]);
      return opened.read(stream, options);
    },
  }));
  const statusOf = async () =>
    (await get('/api/v1/payments/pay_1')).json<{ payment: { status: string } }>().payment.status;
  await appendPayment(store, 'pay_1', [requested(), accepted]);
  expect(await statusOf()).toBe('init');
  await appendPayment(store, 'pay_1', [approved]);
  expect([await statusOf(), await statusOf()]).toEqual(['approved', 'approved']);
  expect(reads).toEqual([
    ['view_payment-pay_1', undefined],
    ['payment-pay_1', 0],
    ['payment-pay_1', 2],
    ['payment-pay_1', 3],
  ]);
});

describe('an entity tag', () => {
  test('is strong, and the same until the content changes', async () => {
    const { get, store } = await givenOneOfEach();
    const before = new Map<string, string>();
    for (const url of urls) {
      const { headers } = await get(url);
      expect(headers, url).toMatchObject({
        etag: expect.stringMatching(/^"[\w-]{27}"$/) as string,
        'content-type': 'application/json; charset=utf-8',
      });
      expect((await get(url)).headers.etag, url).toBe(headers.etag);
      before.set(url, String(headers.etag));
    }
    await appendPayment(store, 'pay_1', [refundDeclined]);
    await appendEvents(store, 'payout-po_1', [payoutHappening.approved]);
    for (const url of urls.filter((each) => !each.includes('disputes'))) {
      const changed = await get(url, { 'if-none-match': before.get(url)! });
      expect(changed.statusCode, url).toBe(200);
      expect(changed.headers.etag, url).not.toBe(before.get(url));
    }
  });

  test('that a caller sends in any form of a list is answered without a body', async () => {
    const { get, getAs } = await givenOneOfEach();
    const [url = ''] = urls;
    const tag = String((await get(url)).headers.etag);
    const listed = [
      tag,
      `W/${tag}`,
      '*',
      ' * ',
      `"other", ${tag}`,
      `"with,comma" ,W/${tag},"x"`,
      `"",${tag}`,
    ];
    for (const known of listed) {
      const answer = await get(url, { 'if-none-match': known });
      expect([answer.statusCode, answer.body], known).toEqual([304, '']);
      expect(answer.headers, known).toMatchObject({ etag: tag });
      expect(answer.headers, known).not.toHaveProperty('content-type');
    }
    const bare = tag.slice(1, -1);
    for (const other of ['"other"', bare, `"${bare}x"`, `"*"`, `"${bare.toLowerCase()}A"`, '', `"x,${bare}"`])
      expect((await get(url, { 'if-none-match': other })).statusCode, other).toBe(200);
    const unseen = await getAs(games)(url, { 'if-none-match': '*' });
    expect(errorsOf(unseen)).toEqual(notFound);
    expect(unseen.headers).not.toHaveProperty('etag');
  });
});
