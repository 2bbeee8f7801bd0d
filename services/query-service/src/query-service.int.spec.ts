import { StoreUnavailable, beginning, type EventStore } from '@tollgate/event-store';
import { formatCursor, type PaymentIndex } from '@tollgate/lists';
import { type PublicPayment } from '@tollgate/gateway-api';
import { appendPayment, foldStored, happening, planted, requested, startedAt } from '@tollgate/views/testing';
import { paymentKind } from '@tollgate/views';
import { TollgateError, systemClock } from '@tollgate/service-kit';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, test } from 'vitest';
import {
  errorsOf,
  games,
  given,
  invalid,
  notFound,
  refused,
  stuck,
  start,
  withoutScope,
} from './testing/harness.ts';

interface PaymentAnswer {
  payment: PublicPayment;
}

const { accepted, approved, reviews, held, unresolved } = happening;

describe('each route', () => {
  const urls = ['/api/v1/payments', '/api/v1/payments/p1', '/api/v1/payments/p1/events'];

  test.each(urls)('%s wants a key', async (url) => {
    const { getAs } = await start();
    const missing = refused(401, 'auth_header_not_found', 'authentication_error');
    expect(errorsOf(await getAs(undefined)(url))).toEqual(missing);
    const incorrect = refused(401, 'incorrect_private_key', 'authentication_error');
    expect(errorsOf(await getAs('Bearer tg_sandbox_k1_0123456789abcdef')(url))).toEqual(incorrect);
  });

  test.each(urls)('%s wants the scope read or payments', async (url) => {
    const { getAs, store } = await start();
    await given(store, { p1: [requested({ team: 'games' })] });
    const answer = await getAs(withoutScope)(url);
    expect(errorsOf(answer)).toEqual(refused(403, 'scope_missing', 'authentication_error'));
    expect(answer.body).toContain('read or payments');
    expect((await getAs(games)(url)).statusCode).toBe(200);
  });
});

describe('one payment', () => {
  const url = '/api/v1/payments/p1';

  test('is shown from the read model', async () => {
    const { get, store } = await start();
    const answer = await get(url, await given(store, { p1: [requested({ orderNumber: 'A' }), accepted] }));
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      success: true,
      payment: { token: 'p1', status: 'init', phase: 'init', orderNumber: 'A', amount: 1_500, revision: 1 },
    });
  });

  test('is shown from its events while the read model does not have it yet', async () => {
    const { get, store } = await start();
    await appendPayment(store, 'p1', [requested(), unresolved]);
    expect((await get(url)).json()).toMatchObject({ payment: { phase: 'unresolved', status: 'init' } });
  });

  // Shown as declined, it became init: the read model took in its beginning while a team waited for its end.
  test('does not move back if the read model then has only its beginning', async () => {
    let isBehind = true;
    const wrapIndex = (index: PaymentIndex): PaymentIndex => ({
      ...index,
      get: (...owned) => (isBehind ? undefined : index.get(...owned)),
    });
    const { get, store } = await start(undefined, { wrapIndex });
    const header = await given(store, { p1: [requested(), accepted] });
    const { position } = await appendPayment(store, 'p1', [approved]);
    const statusAndPosition = async () => {
      const answer = await get(url, header);
      return [answer.json<PaymentAnswer>().payment.status, answer.headers['tollgate-position']];
    };
    expect(await statusAndPosition()).toEqual(['approved', position]);
    isBehind = false;
    expect(await statusAndPosition()).toEqual(['approved', position]);
  });

  // A slow read began before the payment was approved, and ended after a quick one had shown that.
  test('does not go back after a read that was overtaken', async () => {
    let isBehind = true;
    const held = Promise.withResolvers<undefined>();
    const first = Promise.withResolvers<undefined>();
    let reads = 0;
    const slow = (store: EventStore): EventStore => ({
      ...store,
      async *read(stream, options) {
        const events = await Array.fromAsync(store.read(stream, options));
        if (stream === 'payment-p1' && (reads += 1) === 1) {
          first.resolve(undefined);
          await held.promise;
        }
        yield* events;
      },
    });
    const wrapIndex = (index: PaymentIndex): PaymentIndex => ({
      ...index,
      get: (...owned) => (isBehind ? undefined : index.get(...owned)),
    });
    const { get, store } = await start(slow, { wrapIndex });
    const header = await given(store, { p1: [requested(), accepted] });
    const statusOf = async () => (await get(url, header)).json<PaymentAnswer>().payment.status;
    const overtaken = statusOf();
    await first.promise;
    await appendPayment(store, 'p1', [approved]);
    expect(await statusOf()).toBe('approved');
    held.resolve(undefined);
    expect(await overtaken).toBe('init');
    isBehind = false;
    expect(await statusOf()).toBe('approved');
  });

  test('does not go back while the read model is built again, and begins with old views', async () => {
    let isBuilding = false;
    const building = { followed: beginning, head: beginning, events: 1 };
    const wrapIndex = (index: PaymentIndex): PaymentIndex => ({
      ...index,
      building: () => (isBuilding ? building : undefined),
    });
    const { get, store } = await start(undefined, { wrapIndex });
    const header = await given(store, { p1: [requested(), accepted] });
    await appendPayment(store, 'p1', [approved]);
    const statusOf = async () => (await get(url, header)).json<PaymentAnswer>().payment.status;
    expect(await statusOf()).toBe('init');
    isBuilding = true;
    expect(await statusOf()).toBe('approved');
  });

  test('that was shown from a store that was restored since is shown as it is, and from the read model again', async () => {
    let [isBehind, isRestored, reads] = [true, false, 0];
    const restored = (store: EventStore): EventStore => ({
      ...store,
      read: (stream, options) => {
        if (stream !== 'payment-p1') return store.read(stream, options);
        reads += 1;
        return store.read(stream, isRestored ? { ...options, from: 0, limit: 1 } : options);
      },
    });
    const wrapIndex = (index: PaymentIndex): PaymentIndex => ({
      ...index,
      get: () => (isBehind ? undefined : first),
    });
    const { get, store } = await start(restored, { wrapIndex });
    const header = await given(store, { p1: [requested()] });
    const first = await foldStored(store, paymentKind, 'p1');
    await appendPayment(store, 'p1', [accepted, approved]);
    const statusOf = async () => (await get(url, header)).json<PaymentAnswer>().payment.status;
    expect(await statusOf()).toBe('approved');
    [isBehind, isRestored] = [false, true];
    expect([await statusOf(), reads]).toEqual(['init', 2]);
    expect([await statusOf(), reads]).toEqual(['init', 2]);
  });

  test('is not found if it does not exist, for any token', async () => {
    const { get } = await start();
    for (const token of ['p1', '..%2f..%2fetc', '%00', 'x'.repeat(300), 'p1%20', '*'])
      expect(errorsOf(await get(`/api/v1/payments/${token}`)), token).toEqual(notFound);
  });

  test('while the store is unavailable, the answer is 503, not 404', async () => {
    const { get } = await start((store) => ({
      ...store,
      read: () => {
        throw new StoreUnavailable('store_down', 'The store is down.');
      },
    }));
    const answer = await get(url);
    expect(errorsOf(answer)).toEqual(refused(503, 'store_unavailable', 'api_error'));
    expect(answer.headers['retry-after']).toBe('1');
  });
});

test('during a rebuild of the index, lists answer 503, and a payment is found by its token', async () => {
  const building = () => {
    throw new TollgateError('index_rebuilding', 'The index is rebuilding.', { retryable: true });
  };
  const { get, store } = await start(undefined, {
    wrapIndex: (index) => ({
      ...index,
      listPayments: building,
      listPayouts: building,
      listOperations: building,
      listDisputes: building,
      listReviews: building,
    }),
  });
  await appendPayment(store, 'p1', [requested()]);
  for (const list of [
    'payments',
    'payments?operationType=all',
    'payments.csv',
    'payouts',
    'disputes',
    'disputes/list',
    'reviews',
  ]) {
    const answer = await get(`/api/v1/${list}`);
    expect(errorsOf(answer), list).toEqual(refused(503, 'read_model_behind', 'api_error'));
    expect(answer.headers['retry-after'], list).toBe('5');
  }
  expect((await get('/api/v1/payments/p1')).statusCode).toBe(200);
});

describe('a read that waits for a position', () => {
  test.each(['/api/v1/payments/p1', '/api/v1/payments'])('%s is answered when it is reached', async (url) => {
    const { get, store } = await start();
    const header = await given(store, { p1: [requested()] });
    expect((await get(url, header)).statusCode).toBe(200);
  });

  test.each(['/api/v1/payments/p1', '/api/v1/payments'])('%s gives up after two seconds', async (url) => {
    const { get, store } = await start(undefined, { wrapIndex: stuck });
    const { position } = await appendPayment(store, 'p0', [requested()]);
    const begun = systemClock.monotonic();
    const answer = await get(url, { 'tollgate-min-position': position });
    expect(systemClock.monotonic() - begun).toBeGreaterThan(1_900);
    expect(errorsOf(answer)).toEqual(refused(503, 'read_model_behind', 'api_error'));
    expect(answer.headers['retry-after']).toBe('1');
  });

  // It was answered 503 with Retry-After: a client would wait without end for an event that never comes.
  test.each(['9'.repeat(16), '5', '99999999999999999999-99999999999999999999'])(
    'for %s, which is beyond all that was recorded, is refused',
    async (text) => {
      const { get, store } = await start();
      await appendPayment(store, 'p0', [requested()]);
      const answer = await get('/api/v1/payments', { 'tollgate-min-position': text });
      expect(errorsOf(answer)).toEqual(invalid('Tollgate-Min-Position'));
    },
  );

  // Sent by the front door, for callers that did not request a wait.
  test('waits for the last write of the same key, and answers anyway if that takes long', async () => {
    const { get, store } = await start();
    const { position } = await appendPayment(store, 'p0', [requested()]);
    const waiting = get('/api/v1/payments', { 'tollgate-own-position': position });
    await given(store, { p1: [requested()] });
    expect((await waiting).json<{ payments: unknown[] }>().payments).toHaveLength(1);
    for (const far of ['9'.repeat(16), 'soon'])
      expect((await get('/api/v1/payments/p1', { 'tollgate-own-position': far })).statusCode).toBe(200);
  });

  test('waits for the state that another read has shown', async () => {
    const { get, store } = await start();
    const { 'tollgate-min-position': position } = await given(store, {
      p0: [requested()],
      p1: [requested()],
    });
    for (const url of ['/api/v1/payments/p1', '/api/v1/payments', '/api/v1/payments/p1/events']) {
      const answer = await get(url, { 'tollgate-min-position': position });
      expect(answer.headers['tollgate-position'], url).toBe(position);
      const again = await get(url, { 'if-none-match': answer.headers.etag ?? '"none"' });
      expect(again.headers['tollgate-position'], url).toBe(position);
    }
    expect((await get('/api/v1/payments?status=refunded')).headers).not.toHaveProperty('tollgate-position');
  });

  test.each(['', 'soon', '-1', '1'.repeat(65)])('%j is no position', async (text) => {
    const { get } = await start();
    const answer = await get('/api/v1/payments/p1', { 'tollgate-min-position': text });
    expect(errorsOf(answer)).toEqual(invalid('Tollgate-Min-Position'));
  });

  test('two positions are refused, as are two values of any such header', async () => {
    const { get } = await start();
    const answer = await get('/api/v1/payments/p1', { 'tollgate-min-position': '1, 2' });
    const refusal = refused(400, 'invalid_request', 'invalid_request_error', 'tollgate-min-position');
    expect(errorsOf(answer)).toEqual(refusal);
    expect(answer.body).toContain('tollgate-min-position has several values');
  });
});

describe('a list', () => {
  const url = '/api/v1/payments';
  const tokensOf = (answer: LightMyRequestResponse) =>
    answer.json<{ payments: PublicPayment[] }>().payments.map(({ token }) => token);

  async function givenThree() {
    const services = await start();
    const headers = await given(services.store, {
      p1: [
        requested({ orderNumber: 'A', currency: 'USD', metadata: { shop: 'a', till: '1' } }),
        accepted,
        approved,
      ],
      p2: [requested({ orderNumber: 'B' }), accepted, held, reviews],
      p3: [requested({ orderNumber: 'A' })],
    });
    return { ...services, list: (query: string) => services.get(`${url}?${query}`, headers) };
  }

  test('is newest first', async () => {
    const { list } = await givenThree();
    const answer = await list('');
    expect(answer.json()).toMatchObject({ success: true, perPage: 20 });
    expect(Object.keys(answer.json()).sort()).toEqual(['payments', 'perPage', 'success']);
    expect(tokensOf(answer)).toEqual(['p3', 'p2', 'p1']);
  });

  test.each([
    ['status=approved', ['p1']],
    ['status=init', ['p3']],
    ['phase=authorized', ['p2']],
    ['orderNumber=A', ['p3', 'p1']],
    ['orderNumber=A&status=approved', ['p1']],
    ['currency=USD', ['p1']],
    ['needsReview=true', ['p2']],
    ['needsReview=false', ['p3', 'p1']],
    ['dateFrom=2026-01-02&dateTo=2026-01-02', ['p3', 'p2', 'p1']],
    ['dateFrom=2026-01-03', []],
    ['dateTo=2026-01-01', []],
    ['operationType=pays', ['p3', 'p2', 'p1']],
    ['metadata=shop:a', ['p1']],
    ['metadata=till%3A1&metadata=shop:a&status=approved', ['p1']],
    ['metadata=shop:b', []],
  ])('%s', async (query, expected) => {
    const { list } = await givenThree();
    expect(tokensOf(await list(query))).toEqual(expected);
  });

  test('is continued by cursor', async () => {
    const { list } = await givenThree();
    const first = await list('perPage=2');
    expect(tokensOf(first)).toEqual(['p3', 'p2']);
    const { nextCursor } = first.json<{ nextCursor: string }>();
    const second = await list(`perPage=2&cursor=${nextCursor}`);
    expect(tokensOf(second)).toEqual(['p1']);
    expect(Object.keys(second.json()).sort()).toEqual(['payments', 'perPage', 'success']);
  });

  test('a cursor of another filter, list or team is refused', async () => {
    const { list, getAs } = await givenThree();
    const { nextCursor } = (await list('currency=EUR&perPage=1')).json<{ nextCursor: string }>();
    expect(tokensOf(await list(`currency=EUR&cursor=${nextCursor}`))).toEqual(['p2']);
    for (const query of ['', 'currency=USD&', 'currency=EUR&status=init&', 'currency=EUR&operationType=all&'])
      expect(errorsOf(await list(`${query}cursor=${nextCursor}`)), query).toEqual(invalid('cursor'));
    const theirs = await getAs(games)(`${url}?currency=EUR&cursor=${nextCursor}`);
    expect(errorsOf(theirs)).toEqual(invalid('cursor'));
  });

  test('counts on request', async () => {
    const { list } = await givenThree();
    expect((await list('orderNumber=A&perPage=1&withTotal=true')).json()).toMatchObject({ totalCount: 2 });
    expect((await list('withTotal=false')).json()).not.toHaveProperty('totalCount');
  });

  test.each([
    ['status=paid', 'status'],
    ['phase=paid', 'phase'],
    ['currency=XXX', 'currency'],
    ['orderNumber=', 'orderNumber'],
    ['orderNumber=A&orderNumber=B', 'orderNumber'],
    ['metadata=a', 'metadata.0'],
    ['metadata[a]=b', 'metadata[a]'],
    ['metadata=a:b&metadata=a:c', 'metadata'],
    ['metadata=a:1&metadata=b:1&metadata=c:1&metadata=d:1&metadata=e:1&metadata=f:1', 'metadata'],
    ['currency[a]=EUR', 'currency[a]'],
    ['dateFrom=yesterday', 'dateFrom'],
    ['dateTo=2026-02-30', 'dateTo'],
    ['needsReview=yes', 'needsReview'],
    ['withTotal=1', 'withTotal'],
    ['perPage=0', 'perPage'],
    ['perPage=501', 'perPage'],
    ['perPage=1e2', 'perPage'],
    ['page=1', 'page'],
    ['cursor=x', 'cursor'],
    ['operationType=refunds', 'operationType'],
    ['team=games', 'team'],
    ['__proto__=1', '__proto__'],
  ])('%s names the parameter at fault', async (query, parameter) => {
    const { list } = await givenThree();
    expect(errorsOf(await list(query))).toEqual(invalid(parameter));
  });
});

describe('a history', () => {
  const url = '/api/v1/payments/p1/events';

  test('shows every event with its time, its cause, and the state after it', async () => {
    const { get, store } = await start();
    await appendPayment(store, 'p1', [requested({ orderNumber: 'A' }), accepted, approved]);
    const answer = await get(url);
    expect(answer.statusCode).toBe(200);
    const cause = {
      correlationId: 'c-1',
      causationId: 'r-1',
      actor: { kind: 'team', team: 'shop', keyId: 'k1' },
    };
    const { events } = answer.json<{ success: true; events: object[] }>();
    expect(events).toMatchObject([
      {
        revision: 0,
        type: 'PaymentRequested',
        phase: 'requested',
        status: 'init',
        data: { orderNumber: 'A' },
      },
      { revision: 1, type: 'AttemptAccepted', phase: 'init', status: 'init' },
      {
        revision: 2,
        type: 'PaymentApproved',
        phase: 'approved',
        status: 'approved',
        data: { amount: 1_500 },
      },
    ]);
    expect(events[1]).toEqual({
      revision: 1,
      type: 'AttemptAccepted',
      at: new Date(startedAt + 1_000).toISOString(),
      phase: 'init',
      status: 'init',
      cause,
      data: { attemptNumber: 1, source: 'answer' },
    });
  });

  test('of an unknown payment is not found', async () => {
    const { get } = await start();
    expect(errorsOf(await get(url))).toEqual(notFound);
  });
});

test('no answer contains a planted secret', async () => {
  const { get, store } = await start();
  const headers = await given(store, { p1: [requested(), accepted, held, reviews] });
  for (const url of ['/api/v1/payments', '/api/v1/payments/p1', '/api/v1/payments/p1/events']) {
    const answer = await get(url, headers);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).not.toContain(planted);
  }
});

describe("another team's objects (I14)", () => {
  async function givenTheirs() {
    const services = await start();
    const headers = await given(services.store, {
      theirs: [requested({ team: 'games', orderNumber: 'A' }), accepted, reviews],
      live: [requested({ team: 'shop', environment: 'production', orderNumber: 'A' }), accepted, reviews],
    });
    await appendPayment(services.store, 'theirs-new', [requested({ team: 'games' })]);
    await appendPayment(services.store, 'live-new', [requested({ environment: 'production' })]);
    return { ...services, headers };
  }

  test('are not found by token, exactly as ones that do not exist', async () => {
    const { get, headers } = await givenTheirs();
    for (const token of ['theirs', 'live', 'theirs-new', 'live-new', 'nobodys'])
      for (const url of [`/api/v1/payments/${token}`, `/api/v1/payments/${token}/events`])
        expect(errorsOf(await get(url, headers)), url).toEqual(notFound);
  });

  test('are in no list, by no filter', async () => {
    const { get, headers } = await givenTheirs();
    for (const query of [
      '',
      'orderNumber=A',
      'status=init',
      'phase=init',
      'currency=EUR',
      'needsReview=true',
    ])
      expect((await get(`/api/v1/payments?${query}&withTotal=true`, headers)).json()).toMatchObject({
        payments: [],
        totalCount: 0,
      });
  });

  test('are not reached by a cursor', async () => {
    const { get, getAs, headers } = await givenTheirs();
    const cursor = formatCursor(
      'payments',
      { environment: 'sandbox', team: 'games' },
      { at: startedAt + 1, key: 'zzz' },
    );
    const url = `/api/v1/payments?cursor=${cursor}`;
    expect(errorsOf(await get(url, headers))).toEqual(invalid('cursor'));
    expect((await getAs(games)(url, headers)).json()).toMatchObject({
      payments: expect.arrayContaining([expect.objectContaining({ token: 'theirs' })]) as object[],
    });
  });
});
