import { disputeKind } from '@tollgate/views';
import { disputeHappening, disputeOpened, startedAt } from '@tollgate/views/testing';
import { dayMs } from '@tollgate/service-kit';
import { describe, expect, test } from 'vitest';
import { errorsOf, games, given, invalid, refused, start, type Given } from './testing/harness.ts';

const day = new Date(startedAt).toISOString().slice(0, 10);
const dayBefore = new Date(startedAt - dayMs).toISOString().slice(0, 10);
const at = (seconds: number) => new Date(startedAt + seconds * 1_000).toISOString();
const notFound = refused(404, 'dispute_not_found', 'invalid_request_error', 'token');

async function givenDisputes(): Promise<Given & { headers: Record<string, string> }> {
  const services = await start();
  const headers = await given(
    services.store,
    {
      dsp_1: [
        disputeOpened({ team: 'shop', paymentToken: 'pay_1', openedAt: startedAt - dayMs }),
        disputeHappening.changed,
      ],
      dsp_2: [disputeOpened({ id: 'D-2', team: 'shop', paymentToken: 'pay_2', openedAt: startedAt })],
      theirs: [disputeOpened({ id: 'D-3', team: 'games', paymentToken: 'pay_3' })],
      live: [disputeOpened({ id: 'D-4', team: 'shop', paymentToken: 'pay_4', environment: 'production' })],
      unmatched: [disputeOpened({ id: 'D-5' })],
    },
    disputeKind,
  );
  return { ...services, headers };
}

const lost = {
  id: 'D-1',
  amount: 1_500,
  currency: 'EUR',
  status: 'lost',
  reportedStatus: 'lost',
  type: 'chargeback',
  reasonCode: '10.4',
  comment: 'no answer',
  createdAt: at(-24 * 60 * 60),
  updatedAt: at(1),
};

const tokensIn = (answer: { json: () => unknown }) =>
  (answer.json() as { disputes: { token: string }[] }).disputes.map(({ token }) => token);

describe('the list of disputes', () => {
  test("shows each with its payment, newest first, and only the caller's own", async () => {
    const { get, headers } = await givenDisputes();
    const { disputes } = (await get('/api/v1/disputes', headers)).json();
    expect(disputes).toHaveLength(2);
    expect(disputes[1]).toEqual({ ...lost, token: 'dsp_1', paymentToken: 'pay_1' });
  });

  test.each([
    ['', ['dsp_2', 'dsp_1']],
    ['status=open', ['dsp_2']],
    ['status=lost', ['dsp_1']],
    ['status=won', []],
    ['currency=EUR&status=open', ['dsp_2']],
    ['currency=JPY', []],
    ['paymentToken=pay_1', ['dsp_1']],
    ['paymentToken=pay_3', []],
    [`dateFrom=${day}`, ['dsp_2']],
    [`dateTo=${dayBefore}`, ['dsp_1']],
  ])('is filtered by %j, as is its file', async (query, expected) => {
    const { get, headers } = await givenDisputes();
    const listed = await get(`/api/v1/disputes?${query}&withTotal=true`, headers);
    expect(tokensIn(listed)).toEqual(expected);
    expect(listed.json()).toMatchObject({ totalCount: expected.length });
    const file = await get(`/api/v1/disputes.csv?${query}`, headers);
    const lines = file.body.split('\r\n').slice(1, -1);
    expect(lines.map((line) => line.split(',')[0])).toEqual(expected);
  });

  test('is followed by its cursors, which are of one team and its filters', async () => {
    const { get, getAs, headers } = await givenDisputes();
    const first = await get('/api/v1/disputes?perPage=1', headers);
    const { nextCursor = '' } = first.json<{ nextCursor?: string }>();
    expect(tokensIn(await get(`/api/v1/disputes?perPage=1&cursor=${nextCursor}`, headers))).toEqual([
      'dsp_1',
    ]);
    for (const answer of [
      await getAs(games)(`/api/v1/disputes?perPage=1&cursor=${nextCursor}`, headers),
      await get(`/api/v1/disputes?status=open&cursor=${nextCursor}`, headers),
    ])
      expect(errorsOf(answer)).toEqual(invalid('cursor'));
  });

  test('refuses an invalid filter', async () => {
    const { get } = await start();
    for (const query of ['status=pending', 'phase=open', 'dateFrom=2026', 'perPage=0'])
      expect(errorsOf(await get(`/api/v1/disputes?${query}`)), query).toEqual(
        invalid(query.split('=')[0] ?? ''),
      );
  });
});

test('a dispute is shown by its token, to its team only', async () => {
  const { get, headers } = await givenDisputes();
  expect((await get('/api/v1/disputes/dsp_1', headers)).json()).toEqual({
    success: true,
    dispute: { ...lost, token: 'dsp_1', paymentToken: 'pay_1' },
  });
  for (const token of ['theirs', 'live', 'unmatched', 'pay_1', 'nothing'])
    expect(errorsOf(await get(`/api/v1/disputes/${encodeURIComponent(token)}`, headers)), token).toEqual(
      notFound,
    );
});

describe('the list of the specification', () => {
  test('names the payment by token', async () => {
    const { get, headers } = await givenDisputes();
    const { disputes } = (await get('/api/v1/disputes/list', headers)).json();
    expect(disputes[1]).toEqual({ ...lost, token: 'pay_1', disputeToken: 'dsp_1' });
  });

  test('shows a hundred at most', async () => {
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
});

test('the file of disputes opens in a spreadsheet', async () => {
  const { get, headers } = await givenDisputes();
  expect((await get('/api/v1/disputes.csv?status=lost', headers)).body).toBe(
    [
      '\uFEFFtoken,id,paymentToken,status,reportedStatus,createdAt,updatedAt,currency,amount,amountDecimal,type,reasonCode,comment',
      `dsp_1,D-1,pay_1,lost,lost,${lost.createdAt},${lost.updatedAt},EUR,1500,15.00,chargeback,10.4,no answer`,
      '',
    ].join('\r\n'),
  );
});
