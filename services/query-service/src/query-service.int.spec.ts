import {
  appendEvents,
  appendPayment,
  happening,
  payoutHappening,
  payoutRequested,
  requested,
  startedAt,
} from '@tollgate/views/testing';
import { TollgateError, systemClock } from '@tollgate/service-kit';
import { describe, expect, test } from 'vitest';
import { errorsOf, given, invalid, refused, stuck, start } from './testing/harness.ts';

const { accepted, approved } = happening;

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

  test('gives up after two seconds, unless it is by token and needs no index', async () => {
    const { get, store } = await start(undefined, { wrapIndex: stuck });
    const { position } = await appendPayment(store, 'p0', [requested()]);
    const begun = systemClock.monotonic();
    const header = { 'tollgate-min-position': position };
    expect((await get('/api/v1/payments/p0', header)).headers['tollgate-position']).toBe(position);
    const answer = await get('/api/v1/payments', header);
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
      for (const url of ['/api/v1/payments', '/api/v1/payments/p0']) {
        const answer = await get(url, { 'tollgate-min-position': text });
        expect(errorsOf(answer)).toEqual(invalid('Tollgate-Min-Position'));
      }
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

describe('a history', () => {
  const url = '/api/v1/payments/p1/events';

  test('shows every event with its time, its cause, and the state after it', async () => {
    const { get, store } = await start();
    await appendPayment(store, 'p1', [requested({ orderNumber: 'A' }), accepted, approved]);
    const answer = await get(url);
    expect(answer.statusCode).toBe(200);
    const { events } = answer.json<{ events: object[] }>();
    expect(events).toMatchObject([
      {
        revision: 0,
        type: 'PaymentRequested',
        phase: 'requested',
        status: 'init',
        data: { orderNumber: 'A' },
      },
      {},
      {
        revision: 2,
        type: 'PaymentApproved',
        phase: 'approved',
        status: 'approved',
        data: { amount: 1_500 },
      },
    ]);
    const actor = { kind: 'team', team: 'shop', keyId: 'k1' };
    expect(events[1]).toEqual({
      revision: 1,
      type: 'AttemptAccepted',
      at: new Date(startedAt + 1_000).toISOString(),
      phase: 'init',
      status: 'init',
      cause: { correlationId: 'c-1', causationId: 'r-1', actor },
      data: { attemptNumber: 1, source: 'answer' },
    });
  });

  test('of a payout is shown alike', async () => {
    const { get, store } = await start();
    const { accepted: sent, approved: done } = payoutHappening;
    await appendEvents(store, 'payout-po_1', [payoutRequested(), sent, done]);
    expect((await get('/api/v1/payouts/po_1/events')).json()).toMatchObject({
      events: [
        { type: 'PayoutRequested', phase: 'requested', status: 'pending', data: { orderNumber: 'P-1' } },
        { type: 'PayoutAccepted', phase: 'pending', status: 'pending', data: { source: 'answer' } },
        { type: 'PayoutApproved', revision: 2, phase: 'approved', status: 'approved', data: {} },
      ],
    });
  });
});
