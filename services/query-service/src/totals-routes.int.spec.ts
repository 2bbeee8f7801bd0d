import { paymentKind, payoutKind } from '@tollgate/views';
import {
  appendPayment,
  projectEvents,
  type AnyEvent,
  happening,
  payoutRequested,
  requested,
  toNewEvents,
} from '@tollgate/views/testing';
import { systemClock, systemIds, utcDayOf } from '@tollgate/service-kit';
import type { LightMyRequestResponse } from 'fastify';
import { expect, test } from 'vitest';
import { errorsOf, games, invalid, refused, start } from './testing/harness.ts';

const { accepted, approved, refunding, refundApproved } = happening;
const url = '/api/v1/totals';
const january = `${url}?dateFrom=2026-01-01&dateTo=2026-01-31`;

async function givenTotals() {
  const services = await start();
  const { store } = services;
  await projectEvents(store, paymentKind, 'p1', [requested(), accepted, approved]);
  const refund = [requested(), accepted, approved, refunding, refundApproved];
  const later = {
    schemaVersion: 1,
    correlationId: 'c',
    causationId: 'c',
    recordedAt: Date.parse('2026-01-04'),
  };
  const metadata = { ...later, actor: { kind: 'team', team: 'shop', keyId: 'k1' } };
  const events = toNewEvents(refund, () => systemIds.uuid()).map((event) => ({ ...event, metadata }));
  await store.append('payment-p2', events, 'no-stream');
  await projectEvents(store, paymentKind, 'p3', [requested({ currency: 'USD' })]);
  await projectEvents(store, paymentKind, 'q1', [requested({ team: 'games' })]);
  await projectEvents(store, paymentKind, 'r1', [requested({ environment: 'production' })]);
  const payout = await projectEvents(store, payoutKind, 'o1', [payoutRequested()]);
  const headers = { 'tollgate-min-position': payout.position };
  return {
    ...services,
    headers,
    get: (query: string, more?: Record<string, string>) => services.get(query, more ?? headers),
  };
}

const currenciesOf = (answer: LightMyRequestResponse) =>
  answer
    .json<{ days: { day: string; currencies: { currency: string }[] }[] }>()
    .days.map(({ day, currencies }) => [day, ...currencies.map(({ currency }) => currency)].join(' '));

test('are by day and currency, for the own team and environment, with sums', async () => {
  const { get } = await givenTotals();
  const answer = await get(january);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ success: true, dateFrom: '2026-01-01', dateTo: '2026-01-31' });
  expect(currenciesOf(answer)).toEqual(['2026-01-02 EUR USD', '2026-01-04 EUR']);
  const { sums } = answer.json<{ sums: object[] }>();
  expect(sums).toMatchObject([
    {
      currency: 'EUR',
      payments: { init: { count: 0, amount: 0 }, approved: { count: 2, amount: 3_000 } },
      refunds: { confirmed: { count: 1, amount: 500 }, reserved: { count: 0, amount: 0 } },
      payouts: { pending: { count: 1, amount: 300 } },
    },
    { currency: 'USD', payments: { init: { count: 1, amount: 1_500 }, approved: { count: 0, amount: 0 } } },
  ]);
});

test.each([
  ['?dateFrom=2026-01-03&dateTo=2026-01-31', ['2026-01-04 EUR']],
  ['?dateFrom=2026-01-04&dateTo=2026-01-04', ['2026-01-04 EUR']],
  ['?dateFrom=2025-12-01&dateTo=2026-01-03', ['2026-01-02 EUR USD']],
  ['?dateFrom=2026-01-01&dateTo=2026-01-31&currency=USD', ['2026-01-02 USD']],
  ['?dateTo=2026-01-31', ['2026-01-02 EUR USD', '2026-01-04 EUR']],
  ['?dateTo=2026-02-01', ['2026-01-04 EUR']],
  ['?dateFrom=2024-02-29&dateTo=2025-02-28', []],
])('%s', async (query, expected) => {
  const { get } = await givenTotals();
  expect(currenciesOf(await get(`${url}${query}`))).toEqual(expected);
});

test('are those of the last thirty days by default', async () => {
  const { get } = await givenTotals();
  const today = utcDayOf(systemClock.now());
  const answer = (await get(url)).json<{ dateFrom: string; dateTo: string }>();
  // Midnight may have passed since.
  expect(Date.parse(answer.dateTo) - Date.parse(today)).toBeLessThanOrEqual(86_400_000);
  expect(Date.parse(answer.dateTo) - Date.parse(answer.dateFrom)).toBe(29 * 86_400_000);
});

test('of another team are not seen, and those of payouts with their scope only', async () => {
  const { getAs, headers } = await givenTotals();
  const answer = await getAs(games)(january, headers);
  const { sums } = answer.json<{ sums: Record<string, unknown>[] }>();
  expect(sums).toMatchObject([{ currency: 'EUR', payments: { init: { count: 1, amount: 1_500 } } }]);
  expect(sums[0]).not.toHaveProperty('payouts');
});

test.each([
  ['dateFrom=yesterday', 'dateFrom'],
  ['dateFrom=2026-02-30', 'dateFrom'],
  ['dateFrom=2026-01-02&dateTo=2026-01-01', 'dateFrom'],
  ['dateFrom=2025-01-01&dateTo=2026-01-02', 'dateFrom'],
  ['dateTo=2026-1-1', 'dateTo'],
  ['dateTo=2026-01-01&dateTo=2026-01-02', 'dateTo'],
  ['currency=euro', 'currency'],
  ['day=2026-01-01', 'day'],
])('%s is refused by the name of the parameter', async (query, parameter) => {
  const { get } = await start();
  expect(errorsOf(await get(`${url}?${query}`))).toEqual(invalid(parameter));
});

test('wait for the requested position, and include it', async () => {
  const { get, store } = await givenTotals();
  const { position } = await appendPayment(store, 'p9', [requested({ currency: 'CHF' })]);
  const header = { 'tollgate-min-position': position };
  expect(currenciesOf(await get(january, header))).toEqual(['2026-01-02 CHF EUR USD', '2026-01-04 EUR']);
});

function ofAmount(amount: number): AnyEvent {
  const { type, data } = requested({ currency: 'DKK' });
  const { terms } = data as { terms: object };
  return { type, data: { ...data, terms: { ...terms, amount } } };
}

test('a sum that JSON cannot represent exactly is refused', async () => {
  const { get, store } = await givenTotals();
  const amount = Number.MAX_SAFE_INTEGER;
  const first = await projectEvents(store, paymentKind, 'd1', [ofAmount(amount)]);
  const query = `${url}?dateFrom=2026-01-01&dateTo=2026-01-31&currency=DKK`;
  const exact = await get(query, { 'tollgate-min-position': first.position });
  expect(exact.json()).toMatchObject({ sums: [{ payments: { init: { amount } } }] });
  const { position } = await projectEvents(store, paymentKind, 'd2', [ofAmount(2)]);
  const beyond = await get(query, { 'tollgate-min-position': position });
  expect(errorsOf(beyond)).toEqual(refused(422, 'sum_too_large', 'processing_error'));
});
