import { payoutKind } from '@tollgate/views';
import {
  appendEvents,
  appendPayment,
  happening,
  payoutHappening,
  payoutRequested,
  requested,
  startedAt,
} from '@tollgate/views/testing';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, test } from 'vitest';
import { errorsOf, games, given, invalid, notFound, refused, start } from './testing/harness.ts';

const { accepted, approved } = happening;
const payoutNotFound = refused(404, 'payout_not_found', 'invalid_request_error', 'token');
const scopeMissing = refused(403, 'scope_missing', 'authentication_error');
const at = (number: number) => new Date(startedAt + number * 1_000).toISOString();

describe('a payout', () => {
  test('is shown from the read model', async () => {
    const { get, store } = await start();
    const headers = await given(store, { po_1: [payoutRequested(), payoutHappening.accepted] }, payoutKind);
    expect((await get('/api/v1/payouts/po_1', headers)).json()).toEqual({
      success: true,
      payout: {
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
      },
    });
  });

  test('is shown from its events while the read model does not have it yet', async () => {
    const { get, store } = await start();
    await appendEvents(store, 'payout-po_1', [payoutRequested(), payoutHappening.unresolved]);
    expect((await get('/api/v1/payouts/po_1')).json()).toMatchObject({ payout: { phase: 'unresolved' } });
  });

  test('shows its history', async () => {
    const { get, store } = await start();
    const { accepted: paid, approved: done } = payoutHappening;
    await appendEvents(store, 'payout-po_1', [payoutRequested(), paid, done]);
    const { events } = (await get('/api/v1/payouts/po_1/events')).json<{ events: object[] }>();
    expect(events).toMatchObject([
      { type: 'PayoutRequested', phase: 'requested', status: 'pending', data: { orderNumber: 'P-1' } },
      {
        type: 'PayoutAccepted',
        at: at(1),
        phase: 'pending',
        status: 'pending',
        data: { source: 'answer' },
      },
      { type: 'PayoutApproved', revision: 2, phase: 'approved', status: 'approved', data: {} },
    ]);
  });

  test('shows it among payments, and by its token, with operationType', async () => {
    const { get, getAs, store } = await start();
    const headers = await given(store, { po_1: [payoutRequested()] }, payoutKind);
    const { payout } = (await get('/api/v1/payouts/po_1', headers)).json<{ payout: object }>();
    const answer = await get('/api/v1/payments/po_1', headers);
    expect(answer.json()).toEqual({ success: true, payment: { ...payout, operationType: 'payout' } });
    const theirs = await given(store, { po_2: [payoutRequested({ team: 'games' })] }, payoutKind);
    expect(errorsOf(await getAs(games)('/api/v1/payments/po_2', theirs))).toEqual(notFound);
  });

  test('is not found if it does not exist', async () => {
    const { get, store } = await start();
    await appendPayment(store, 'pay_1', [requested()]);
    for (const token of ['po_1', 'pay_1', '..%2f..%2fetc', 'x'.repeat(300), '*'])
      for (const url of [`/api/v1/payouts/${token}`, `/api/v1/payouts/${token}/events`])
        expect(errorsOf(await get(url)), url).toEqual(payoutNotFound);
  });
});

describe('lists with payouts', () => {
  async function givenSome() {
    const services = await start();
    const { store } = services;
    await given(store, {
      pay_1: [requested({ orderNumber: 'A' }), accepted],
      pay_2: [requested({ currency: 'USD' }), accepted, approved],
    });
    const { accepted: paid, approved: done, unresolved, reviews: raised } = payoutHappening;
    const headers = await given(
      store,
      {
        po_1: [payoutRequested({ orderNumber: 'A' }), paid, done],
        po_2: [payoutRequested({ currency: 'USD' }), unresolved, raised],
      },
      payoutKind,
    );
    return { ...services, headers, list: (url: string) => services.get(`/api/v1/${url}`, headers) };
  }
  const tokensOf = (answer: LightMyRequestResponse, name: string) =>
    answer.json<Record<string, { token: string }[]>>()[name]!.map(({ token }) => token);

  test.each([
    ['', ['po_2', 'po_1']],
    ['status=approved', ['po_1']],
    ['status=pending', ['po_2']],
    ['phase=unresolved', ['po_2']],
    ['orderNumber=A', ['po_1']],
    ['currency=USD', ['po_2']],
    ['needsReview=true', ['po_2']],
    ['needsReview=false', ['po_1']],
    ['dateFrom=2026-01-02&dateTo=2026-01-02', ['po_2', 'po_1']],
    ['dateFrom=2026-01-03', []],
  ])('payouts?%s', async (query, expected) => {
    const { list } = await givenSome();
    expect(tokensOf(await list(`payouts?${query}`), 'payouts')).toEqual(expected);
  });

  test.each([
    ['operationType=pays', ['pay_2', 'pay_1']],
    ['operationType=payouts', ['po_2', 'po_1']],
    ['operationType=all', ['po_2', 'po_1', 'pay_2', 'pay_1']],
    ['operationType=all&orderNumber=A', ['po_1', 'pay_1']],
    ['operationType=all&status=approved', ['po_1', 'pay_2']],
    ['operationType=payouts&status=init', []],
    ['', ['pay_2', 'pay_1']],
  ])('payments?%s', async (query, expected) => {
    const { list } = await givenSome();
    expect(tokensOf(await list(`payments?${query}`), 'payments')).toEqual(expected);
  });

  test('have their own cursors, and count', async () => {
    const { list } = await givenSome();
    for (const [url, name] of [
      ['payouts?perPage=1', 'payouts'],
      ['payments?operationType=all&perPage=3', 'payments'],
    ] as const) {
      const first = await list(`${url}&withTotal=true`);
      const { nextCursor, totalCount } = first.json<{ nextCursor: string; totalCount: number }>();
      expect(totalCount).toBe(name === 'payouts' ? 2 : 4);
      const second = await list(`${url}&cursor=${nextCursor}`);
      expect(tokensOf(second, name)).toHaveLength(1);
      expect(tokensOf(first, name)).not.toContain(tokensOf(second, name)[0]);
      expect(second.json()).not.toHaveProperty('nextCursor');
      expect(errorsOf(await list(`payments?cursor=${nextCursor}`))).toEqual(invalid('cursor'));
    }
  });

  test.each([
    ['payouts?status=init', 'status'],
    ['payouts?phase=authorized', 'phase'],
    ['payouts?perPage=501', 'perPage'],
    ['payouts?operationType=all', 'operationType'],
    ['payments?operationType=payout', 'operationType'],
    ['reviews?perPage=0', 'perPage'],
    ['reviews?cursor=x', 'cursor'],
    ['payouts?page=1', 'page'],
    ['disputes/list?team=games', 'team'],
  ])('%s names the parameter at fault', async (url, parameter) => {
    const { list } = await givenSome();
    expect(errorsOf(await list(url))).toEqual(invalid(parameter));
  });

  test('are not shown to a key that may read payments only', async () => {
    const { getAs, headers } = await givenSome();
    for (const type of ['payouts', 'all'])
      expect(errorsOf(await getAs(games)(`/api/v1/payments?operationType=${type}`, headers))).toEqual(
        scopeMissing,
      );
  });
});
