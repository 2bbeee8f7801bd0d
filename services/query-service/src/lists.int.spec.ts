/** The lists of a team and their files: each has the same filters, cursors and errors. */
import type { PaymentEvent } from '@tollgate/core';
import { formatCursor } from '@tollgate/lists';
import { dayMs } from '@tollgate/service-kit';
import { disputeKind, payoutKind } from '@tollgate/views';
import {
  disputeHappening,
  disputeOpened,
  happening,
  payoutHappening,
  payoutRequested,
  requested,
  startedAt,
  type RequestedOptions,
} from '@tollgate/views/testing';
import { expect, test } from 'vitest';
import { errorsOf, games, given, invalid, refused, shop, start } from './testing/harness.ts';

const { accepted, approved, held, reviews } = happening;
const at = (seconds: number) => new Date(startedAt + seconds * 1_000).toISOString();
const dayBefore = at(-86_400).slice(0, 10);

/** Refunds of one payment, one after another, each ended by the event of this name. */
const refundsOf = (
  ends: Record<string, 'refundApproved' | 'refundDeclined' | 'refundAccepted'>,
): PaymentEvent[] =>
  Object.entries(ends).flatMap(([refundToken, name]) =>
    [happening.refunding, happening[name]].map(
      (event) =>
        ({
          ...event,
          data: { ...event.data, refundToken, ...(event === happening.refunding && { amount: 100 }) },
        }) as PaymentEvent,
    ),
  );
const paid = (options: RequestedOptions = {}): PaymentEvent[] => [requested(options), accepted, approved];

/** Objects of the team, and as many of another team and environment. */
async function givenObjects() {
  const services = await start();
  const { store } = services;
  await given(store, {
    pay_1: paid({ orderNumber: 'A', currency: 'USD', metadata: { shop: 'a', till: '1' } }),
    pay_2: [requested({ orderNumber: 'B' }), accepted, held, reviews],
    pay_3: [requested({ orderNumber: 'A' })],
    pay_4: [
      ...paid(),
      ...refundsOf({ ref_1: 'refundApproved', ref_2: 'refundDeclined', ref_3: 'refundAccepted' }),
    ],
    pay_5: [...paid({ currency: 'JPY' }), ...refundsOf({ ref_4: 'refundApproved' })],
    theirs: [
      ...paid({ team: 'games', orderNumber: 'A' }),
      ...refundsOf({ ref_5: 'refundApproved' }),
      reviews,
    ],
    live: [...paid({ environment: 'production' }), ...refundsOf({ ref_6: 'refundApproved' }), reviews],
  });
  const { accepted: sent, approved: done, unresolved, reviews: raised } = payoutHappening;
  await given(
    store,
    {
      po_1: [payoutRequested({ orderNumber: 'A' }), sent, done],
      po_2: [payoutRequested({ currency: 'USD' }), unresolved, raised],
      po_3: [payoutRequested({ team: 'games' }), raised],
      po_4: [payoutRequested({ environment: 'production' }), raised],
    },
    payoutKind,
  );
  const ofShop = { team: 'shop', openedAt: startedAt };
  const headers = await given(
    store,
    {
      dsp_1: [
        disputeOpened({ ...ofShop, paymentToken: 'pay_1', openedAt: startedAt - dayMs }),
        disputeHappening.changed,
      ],
      dsp_2: [disputeOpened({ ...ofShop, id: 'D-2', paymentToken: 'pay_2' })],
      dsp_3: [disputeOpened({ id: 'D-3', team: 'games', paymentToken: 'pay_3' })],
      dsp_4: [disputeOpened({ ...ofShop, id: 'D-4', environment: 'production' })],
      dsp_5: [disputeOpened({ id: 'D-5' })],
    },
    disputeKind,
  );
  const list = (path: string, getAs = services.get) => getAs(`/api/v1/${path}`, headers);
  return { ...services, list };
}

const tokensIn = (answer: { json: () => unknown }) => {
  const lists = Object.values(answer.json() as Record<string, unknown>).filter(Array.isArray);
  return (lists[0] as { token: string }[]).map(({ token }) => token);
};

const everything = {
  payments: ['pay_5', 'pay_4', 'pay_3', 'pay_2', 'pay_1'],
  'payments?operationType=payouts': ['po_2', 'po_1'],
  'payments?operationType=all': ['po_2', 'po_1', 'pay_5', 'pay_4', 'pay_3', 'pay_2', 'pay_1'],
  payouts: ['po_2', 'po_1'],
  refunds: ['ref_3', 'ref_2', 'ref_4', 'ref_1'],
  disputes: ['dsp_2', 'dsp_1'],
};
const paths = Object.keys(everything);
const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

test.each<[list: string, Record<string, readonly string[]>]>([
  [
    'payments',
    {
      '': everything.payments,
      'status=approved': ['pay_5', 'pay_4', 'pay_1'],
      'status=init': ['pay_3'],
      'phase=authorized': ['pay_2'],
      'orderNumber=A': ['pay_3', 'pay_1'],
      'orderNumber=A&status=approved': ['pay_1'],
      'currency=USD': ['pay_1'],
      'needsReview=true': ['pay_2'],
      'needsReview=false&currency=EUR': ['pay_4', 'pay_3'],
      'dateFrom=2026-01-02&dateTo=2026-01-02': everything.payments,
      'dateFrom=2026-01-03': [],
      'dateTo=2026-01-01': [],
      'operationType=pays': everything.payments,
      'operationType=payouts': ['po_2', 'po_1'],
      'operationType=all': everything['payments?operationType=all'],
      'operationType=all&orderNumber=A': ['po_1', 'pay_3', 'pay_1'],
      'operationType=payouts&status=init': [],
      'metadata=shop:a': ['pay_1'],
      'metadata=till%3A1&metadata=shop:a&status=approved': ['pay_1'],
      'metadata=shop:b': [],
    },
  ],
  [
    'payouts',
    {
      '': everything.payouts,
      'status=approved': ['po_1'],
      'phase=unresolved': ['po_2'],
      'orderNumber=A': ['po_1'],
      'currency=USD': ['po_2'],
      'needsReview=true': ['po_2'],
      'dateFrom=2026-01-03': [],
    },
  ],
  [
    'refunds',
    {
      '': everything.refunds,
      'status=pending': ['ref_3'],
      'phase=declined': ['ref_2'],
      'status=approved&phase=declined': [],
      'currency=EUR&status=approved': ['ref_1'],
      'paymentToken=pay_4': ['ref_3', 'ref_2', 'ref_1'],
      'paymentToken=pay_4&phase=approved': ['ref_1'],
      'paymentToken=pay_4&currency=JPY': [],
      'paymentToken=theirs': [],
      'dateFrom=2026-01-03': [],
      'paymentToken=pay_4&dateTo=2026-01-02': ['ref_3', 'ref_2', 'ref_1'],
    },
  ],
  [
    'disputes',
    {
      '': everything.disputes,
      'status=open': ['dsp_2'],
      'status=lost': ['dsp_1'],
      'status=won': [],
      'currency=EUR&status=open': ['dsp_2'],
      'currency=JPY': [],
      'paymentToken=pay_1': ['dsp_1'],
      'paymentToken=pay_3': [],
      'dateFrom=2026-01-02': ['dsp_2'],
      [`dateTo=${dayBefore}`]: ['dsp_1'],
    },
  ],
])("%s are newest first, counted, filtered and the team's own, as is their file", async (name, filters) => {
  const { list } = await givenObjects();
  for (const [query, expected] of Object.entries(filters)) {
    const listed = await list(`${name}?${query}&withTotal=true`);
    expect(tokensIn(listed), query).toEqual(expected);
    expect(listed.json(), query).toMatchObject({ success: true, perPage: 20, totalCount: expected.length });
    if (name === 'payouts') continue;
    const [header = '', ...lines] = (await list(`${name}.csv?${query}`)).body.slice(1).split('\r\n');
    const column = header.split(',').indexOf('token');
    expect(
      lines.slice(0, -1).map((line) => line.split(',')[column]),
      query,
    ).toEqual(expected);
  }
});

test.each(paths)('%s is continued by its cursors, which fit no other list, filter or team', async (path) => {
  const { list, getAs } = await givenObjects();
  const tokens: string[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const page = await list(withQuery(path, `perPage=1${next}`));
    tokens.push(...tokensIn(page));
    const { nextCursor } = page.json<{ nextCursor?: string }>();
    next = nextCursor && `&cursor=${nextCursor}`;
    if (next === undefined) continue;
    const isOfPayouts = (each: string) => each.endsWith('payouts');
    const others = paths.filter((each) => each !== path && !(isOfPayouts(each) && isOfPayouts(path)));
    for (const other of [withQuery(path, 'currency=EUR'), ...others])
      expect(errorsOf(await list(withQuery(other, next.slice(1)))), other).toEqual(invalid('cursor'));
  }
  expect(tokens).toEqual(everything[path as keyof typeof everything]);
  const cursor = formatCursor(
    'payments',
    { environment: 'sandbox', team: 'games' },
    { at: startedAt + 1, key: 'z' },
  );
  expect(errorsOf(await list(`payments?cursor=${cursor}`))).toEqual(invalid('cursor'));
  expect(tokensIn(await list(`payments?cursor=${cursor}`, getAs(games)))).toEqual(['theirs']);
});

test.each<[path: string, queries: string[]]>([
  [
    'payments',
    [
      ...['status=paid', 'phase=paid', 'currency=XXX', 'orderNumber=', 'orderNumber=A&orderNumber=B'],
      ...[
        'metadata=a:b&metadata=a:c',
        'metadata=a:1&metadata=b:1&metadata=c:1&metadata=d:1&metadata=e:1&metadata=f:1',
      ],
      ...['metadata[a]=b', 'currency[a]=EUR', 'dateFrom=yesterday', 'dateTo=2026-02-30', 'needsReview=yes'],
      ...['withTotal=1', 'perPage=0', 'perPage=501', 'perPage=1e2', 'page=1', 'cursor=x', 'team=games'],
      ...['operationType=refunds', '__proto__=1'],
    ],
  ],
  ['payments.csv', ['perPage=20', 'page=1', 'cursor=x', 'withTotal=true', 'status=paid']],
  ['payouts', ['status=init', 'phase=authorized', 'perPage=501', 'operationType=all', 'page=1']],
  ['refunds', ['status=refunded', 'phase=pending', 'dateFrom=2026', 'orderNumber=1', 'perPage=0']],
  ['refunds.csv', ['perPage=1']],
  ['disputes', ['status=pending', 'phase=open', 'dateFrom=2026', 'perPage=0']],
  ['disputes/list', ['team=games']],
  ['reviews', ['perPage=0', 'cursor=x']],
])('%s names the parameter at fault', async (path, queries) => {
  const { list } = await givenObjects();
  for (const query of queries)
    expect(errorsOf(await list(`${path}?${query}`)), query).toEqual(invalid(query.split('=')[0] ?? ''));
  if (path === 'payments') expect(errorsOf(await list('payments?metadata=a'))).toEqual(invalid('metadata.0'));
});

test('payouts among the payments require the scope for payouts', async () => {
  const { getAs, list } = await givenObjects();
  const scopeMissing = refused(403, 'scope_missing', 'authentication_error');
  for (const type of ['payouts', 'all'])
    for (const path of ['payments', 'payments.csv'])
      expect(errorsOf(await list(`${path}?operationType=${type}`, getAs(games)))).toEqual(scopeMissing);
});

test('each entry of a list, and each line of a file, has these fields', async () => {
  const { list, app } = await givenObjects();
  const declined = {
    token: 'ref_2',
    paymentToken: 'pay_4',
    status: 'declined',
    phase: 'declined',
    createdAt: at(5),
    updatedAt: at(6),
    currency: 'EUR',
    amount: 100,
    errors: [{ code: 'incorrect_private_key', kind: 'authentication_error' }],
    reviews: [],
  };
  expect((await list('refunds?phase=declined')).json()).toMatchObject({ refunds: [declined] });
  const times = { createdAt: at(-86_400), updatedAt: at(1) };
  const terms = { amount: 1_500, currency: 'EUR', type: 'chargeback', reasonCode: '10.4' };
  const lost = {
    id: 'D-1',
    ...terms,
    status: 'lost',
    reportedStatus: 'lost',
    comment: 'no answer',
    ...times,
  };
  const named = { ...lost, token: 'dsp_1', paymentToken: 'pay_1' };
  expect((await list('disputes?status=lost')).json()).toMatchObject({ disputes: [named] });
  expect((await list('disputes/dsp_1')).json()).toEqual({ success: true, dispute: named });
  // The list of the specification names the payment by token.
  const { disputes } = (await list('disputes/list')).json<{ disputes: object[] }>();
  expect(disputes[1]).toEqual({ ...lost, token: 'pay_1', disputeToken: 'dsp_1' });
  const head = 'token,paymentToken,status,phase,createdAt,updatedAt,currency,amount,amountDecimal';
  const file = await list('refunds.csv?phase=declined');
  expect(file.body.split('\r\n')).toEqual([
    `\uFEFF${head},errors,reviews,metadata`,
    `ref_2,pay_4,declined,declined,${at(5)},${at(6)},EUR,100,1.00,incorrect_private_key,,`,
    '',
  ]);
  expect((await list('disputes.csv?status=lost')).body.split('\r\n')).toEqual([
    '\uFEFFtoken,id,paymentToken,status,reportedStatus,createdAt,updatedAt,currency,amount,amountDecimal,type,reasonCode,comment',
    `dsp_1,D-1,pay_1,lost,lost,${at(-86_400)},${at(1)},EUR,1500,15.00,chargeback,10.4,no answer`,
    '',
  ]);
  // Excel read the file as the code page of the machine, and a client believed that it was empty.
  expect(file.rawPayload.subarray(0, 3).toString('hex')).toBe('efbbbf');
  const headers = { authorization: shop };
  const headOnly = await app.inject({ method: 'HEAD', url: '/api/v1/refunds.csv', headers });
  expect(headOnly).toMatchObject({ statusCode: 200, body: '' });
  expect(headOnly.headers).not.toHaveProperty('content-length');
  expect(headOnly.headers['content-disposition']).toBe('attachment; filename="refunds-shop.csv"');
});

test('the list of the specification has a hundred disputes at most', async () => {
  const { get, store } = await start();
  const histories = Array.from({ length: 101 }, (_, number) => [
    `dsp_${number}`,
    [disputeOpened({ id: `D-${number}`, team: 'shop', openedAt: startedAt + number })],
  ]);
  const headers = await given(store, Object.fromEntries(histories), disputeKind);
  const { disputes } = (await get('/api/v1/disputes/list', headers)).json<{ disputes: { id: string }[] }>();
  expect(disputes).toHaveLength(100);
  expect(disputes[0]!.id).toBe('D-100');
});
