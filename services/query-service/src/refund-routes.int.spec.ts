import type { PaymentEvent } from '@tollgate/core';
import { happening, requested, startedAt, type RequestedOptions } from '@tollgate/views/testing';
import { dayMs } from '@tollgate/service-kit';
import { describe, expect, test } from 'vitest';
import { errorsOf, given, invalid, refundsOnly, shop, start, type Given } from './testing/harness.ts';

const { accepted, approved } = happening;
const day = new Date(startedAt).toISOString().slice(0, 10);
const dayAfter = new Date(startedAt + dayMs).toISOString().slice(0, 10);
const at = (number: number) => new Date(startedAt + number * 1_000).toISOString();

/** Refunds of one payment, one after another, each ended by the event of this name. */
const refundsOf = (
  ends: Record<string, 'refundApproved' | 'refundDeclined' | 'refundAccepted'>,
): PaymentEvent[] =>
  Object.entries(ends).flatMap(([refundToken, name]) => {
    const of = (event: PaymentEvent) =>
      ({
        ...event,
        data: { ...event.data, refundToken, ...(event === happening.refunding && { amount: 100 }) },
      }) as PaymentEvent;
    return [of(happening.refunding), of(happening[name])];
  });

const paid = (options: RequestedOptions = {}): PaymentEvent[] => [requested(options), accepted, approved];

async function givenRefunds(): Promise<Given & { headers: Record<string, string> }> {
  const services = await start();
  const headers = await given(services.store, {
    pay_1: [
      ...paid(),
      ...refundsOf({ ref_1: 'refundApproved', ref_2: 'refundDeclined', ref_3: 'refundAccepted' }),
    ],
    pay_2: [...paid({ currency: 'JPY' }), ...refundsOf({ ref_4: 'refundApproved' })],
    theirs: [...paid({ team: 'games' }), ...refundsOf({ ref_5: 'refundApproved' })],
    live: [...paid({ environment: 'production' }), ...refundsOf({ ref_6: 'refundApproved' })],
    none: paid(),
  });
  return { ...services, headers };
}

const tokensIn = (answer: { json: () => unknown }) =>
  (answer.json() as { refunds: { token: string }[] }).refunds.map(({ token }) => token);

describe('the list of refunds', () => {
  test("shows each with its payment and times, newest first, and only the caller's own", async () => {
    const { get, headers } = await givenRefunds();
    const { refunds } = (await get('/api/v1/refunds', headers)).json();
    expect(refunds).toHaveLength(4);
    expect(refunds[1]).toEqual({
      token: 'ref_2',
      paymentToken: 'pay_1',
      status: 'declined',
      phase: 'declined',
      createdAt: at(5),
      updatedAt: at(6),
      currency: 'EUR',
      amount: 100,
      errors: [{ code: 'incorrect_private_key', kind: 'authentication_error' }],
      reviews: [],
    });
  });

  test.each([
    ['', ['ref_3', 'ref_2', 'ref_4', 'ref_1']],
    ['status=pending', ['ref_3']],
    ['status=approved', ['ref_4', 'ref_1']],
    ['phase=declined', ['ref_2']],
    ['status=approved&phase=declined', []],
    ['currency=JPY', ['ref_4']],
    ['currency=EUR&status=approved', ['ref_1']],
    ['paymentToken=pay_1', ['ref_3', 'ref_2', 'ref_1']],
    ['paymentToken=pay_1&phase=approved', ['ref_1']],
    ['paymentToken=pay_1&currency=JPY', []],
    ['paymentToken=theirs', []],
    [`dateFrom=${day}&dateTo=${day}`, ['ref_3', 'ref_2', 'ref_4', 'ref_1']],
    [`dateFrom=${dayAfter}`, []],
    [`paymentToken=pay_1&dateTo=${day}`, ['ref_3', 'ref_2', 'ref_1']],
  ])('is filtered by %j, as is its file', async (query, expected) => {
    const { get, headers } = await givenRefunds();
    const listed = await get(`/api/v1/refunds?${query}&withTotal=true`, headers);
    expect(tokensIn(listed)).toEqual(expected);
    expect(listed.json()).toMatchObject({ totalCount: expected.length });
    const file = await get(`/api/v1/refunds.csv?${query}`, headers);
    const lines = file.body.split('\r\n').slice(1, -1);
    expect(lines.map((line) => line.split(',')[0])).toEqual(expected);
  });

  test('is followed by its cursors', async () => {
    const { get, headers } = await givenRefunds();
    const tokens: string[] = [];
    let next: string | undefined = '';
    while (next !== undefined) {
      const page = await get(`/api/v1/refunds?perPage=1${next}`, headers);
      tokens.push(...tokensIn(page));
      const { nextCursor } = page.json<{ nextCursor?: string }>();
      next = nextCursor && `&cursor=${nextCursor}`;
    }
    expect(tokens).toEqual(['ref_3', 'ref_2', 'ref_4', 'ref_1']);
  });

  test('refuses an invalid filter', async () => {
    const { get } = await start();
    for (const query of ['status=refunded', 'phase=pending', 'dateFrom=2026', 'orderNumber=1', 'perPage=0'])
      expect(errorsOf(await get(`/api/v1/refunds?${query}`)), query).toEqual(
        invalid(query.split('=')[0] ?? ''),
      );
    expect(errorsOf(await get('/api/v1/refunds.csv?perPage=1'))).toEqual(invalid('perPage'));
  });

  test('is open to keys that refund', async () => {
    const { getAs } = await start();
    for (const url of ['/api/v1/refunds', '/api/v1/refunds.csv'])
      expect((await getAs(refundsOnly)(url)).statusCode, url).toBe(200);
  });
});

test('the file of refunds opens in a spreadsheet, and HEAD sends no length', async () => {
  const { app, get, headers } = await givenRefunds();
  const url = '/api/v1/refunds.csv?phase=declined';
  expect((await get(url, headers)).body).toBe(
    [
      '\uFEFFtoken,paymentToken,status,phase,createdAt,updatedAt,currency,amount,amountDecimal,errors,reviews,metadata',
      `ref_2,pay_1,declined,declined,${at(5)},${at(6)},EUR,100,1.00,incorrect_private_key,,`,
      '',
    ].join('\r\n'),
  );
  const head = await app.inject({ method: 'HEAD', url, headers: { ...headers, authorization: shop } });
  expect(head).toMatchObject({ statusCode: 200, body: '' });
  expect(head.headers['content-length']).toBeUndefined();
  expect(head.headers['content-disposition']).toBe('attachment; filename="refunds-shop.csv"');
});
