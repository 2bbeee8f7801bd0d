/** Operators call the API across teams; keys of teams cannot. */
import { givenTeam, keyText } from '@tollgate/teams/testing';
import { type OperatorRole, savedViewsMax } from '@tollgate/teams';
import { projectEvents, disputeOpened, happening, planted, requested } from '@tollgate/views/testing';
import { disputeKind, paymentKind } from '@tollgate/views';
import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { startApi } from './testing/api.ts';

const { accepted, approved, refunding, reviews } = happening;
const shop = { team: 'shop', keyId: 'k1' };

async function start() {
  const api = await startApi(async (store) => {
    await givenTeam(store, shop);
    await givenTeam(store, { team: 'games', keyId: 'k2' });
    await projectEvents(store, paymentKind, 'pay_1', [
      requested({ orderNumber: 'A', metadata: { basket: '4711' } }),
      accepted,
      approved,
    ]);
    await projectEvents(store, paymentKind, 'pay_2', [
      requested({ team: 'games', orderNumber: 'A' }),
      accepted,
      approved,
      reviews,
    ]);
  });
  const ask = (url: string, { role = 'viewer', ...more }: AskOptions = {}) =>
    api.app.inject({ url, ...more, headers: { authorization: api.bearerOf(role), ...more.headers } });
  return { ...api, ask };
}
interface AskOptions {
  role?: OperatorRole;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  payload?: object;
}
const within = (team: string, environment = 'sandbox') => ({
  'tollgate-team': team,
  'tollgate-environment': environment,
});
/** The tokens of the one list in an answer. */
const tokensIn = (body: object) =>
  (Object.values(body).find(Array.isArray) as { token: string }[]).map(({ token }) => token);

describe('across teams', () => {
  it('lists the refunds of all, filters them and exports the file', async () => {
    const { ask, store } = await start();
    for (const [team, token] of [
      ['shop', 'ref_shop'],
      ['games', 'ref_games'],
    ] as const) {
      const refund = { ...refunding, data: { ...refunding.data, refundToken: token } };
      const events = [requested({ team }), accepted, approved, refund];
      await projectEvents(store, paymentKind, `pay_of_${team}`, events);
    }
    const tokens = async (query: string) => tokensIn((await ask(`/api/v1/admin/refunds${query}`)).json());
    await eventually(async () => expect(await tokens('')).toEqual(['ref_shop', 'ref_games']));
    expect(await tokens('?order=oldest')).toEqual(['ref_games', 'ref_shop']);
    expect(await tokens('?team=games&phase=submitted')).toEqual(['ref_games']);
    expect(await tokens('?status=approved')).toEqual([]);
    expect(await tokens('?paymentToken=pay_of_shop')).toEqual(['ref_shop']);
    expect(await tokens('?createdFrom=2030-01-01T00:00:00Z')).toEqual([]);
    const { body } = await ask('/api/v1/admin/refunds.csv?team=games');
    expect(body).toMatch(/^\uFEFFteam,environment,token,.*\r\ngames,sandbox,ref_games,.*\r\n$/);
  });

  it('lists the disputes of all, and, for a reach of every team, those without a known payment', async () => {
    const { ask, store } = await start();
    for (const [team, token] of [
      ['shop', 'dsp_shop'],
      ['games', 'dsp_games'],
      [undefined, 'dsp_unmatched'],
    ] as const)
      await projectEvents(store, disputeKind, token, [disputeOpened({ ...(team && { team }), id: token })]);
    const tokens = async (query: string) => tokensIn((await ask(`/api/v1/admin/disputes${query}`)).json());
    await eventually(async () =>
      expect((await tokens('')).toSorted()).toEqual(['dsp_games', 'dsp_shop', 'dsp_unmatched']),
    );
    expect(await tokens('?team=games&status=open')).toEqual(['dsp_games']);
    expect(await tokens('?environment=production')).toEqual([]);
    expect(await tokens('?status=won')).toEqual([]);
    const { body } = await ask('/api/v1/admin/disputes.csv?team=games');
    expect(body).toMatch(/^\uFEFFteam,environment,token,.*\r\ngames,sandbox,dsp_games,.*\r\n$/);
  });

  it('lists the payments of all, filters them and pages, in both orders', async () => {
    const { ask } = await start();
    const list = async (query: string) => tokensIn((await ask(`/api/v1/admin/payments${query}`)).json());
    await eventually(async () => expect((await list('')).toSorted()).toEqual(['pay_1', 'pay_2']));
    expect(await list('?team=games')).toEqual(['pay_2']);
    expect(await list('?environment=production')).toEqual([]);
    expect(await list('?amountFrom=9999')).toEqual([]);
    expect(await list('?phase=approved&amountTo=15.00&currency=EUR')).toHaveLength(2);
    const first = await ask('/api/v1/admin/payments?perPage=1');
    const { nextCursor } = first.json<{ nextCursor: string }>();
    const second = await ask(`/api/v1/admin/payments?perPage=1&cursor=${nextCursor}`);
    expect([...tokensIn(first.json()), ...tokensIn(second.json())].toSorted()).toEqual(['pay_1', 'pay_2']);
    expect(second.json()).not.toHaveProperty('nextCursor');
    const oldest = await ask('/api/v1/admin/payments?order=oldest&perPage=1');
    const { nextCursor: next } = oldest.json<{ nextCursor: string }>();
    const paged = [...tokensIn(oldest.json()), ...(await list(`?order=oldest&perPage=1&cursor=${next}`))];
    expect(paged).toEqual((await list('')).toReversed());
    // A cursor leads on in its own order only.
    expect((await ask(`/api/v1/admin/payments?perPage=1&cursor=${next}`)).statusCode).toBe(400);
    expect((await ask('/api/v1/admin/payments?order=amount')).statusCode).toBe(400);
    expect(await list('?order=oldest&createdFrom=2000-01-01T00:00:00Z')).toHaveLength(2);
    expect(await list('?order=oldest&createdBefore=2000-01-01T00:00:00Z')).toEqual([]);
    expect(await list('?metadata=basket:4711')).toEqual(['pay_1']);
    expect(await list('?metadata=basket:4711&team=games')).toEqual([]);
  });

  it('shows the next step of a payment, the allowed actions, and the actors so far', async () => {
    const { ask } = await start();
    const shown = (await ask('/api/v1/admin/payments/pay_2')).json<object>();
    expect(shown).toMatchObject({
      payment: { team: 'games', environment: 'sandbox', phase: 'approved' },
      machine: { lifecycle: 'approved', refund: 'idle' },
      refundableAmount: 1_500,
      actions: ['refund', 'inquire'],
      reviews: [{ kind: 'payment' }],
    });
    const { events } = (await ask('/api/v1/admin/payments/pay_2/events')).json<{ events: object[] }>();
    expect(events[0]).toMatchObject({ type: 'PaymentRequested', stored: { data: { team: 'games' } } });
    expect((await ask('/api/v1/admin/payments/pay_9')).statusCode).toBe(404);
    expect((await ask('/api/v1/admin/payments/..%2Fx')).statusCode).toBe(404);
  });

  it('finds by token, by order number and by the end of a card, and counts', async () => {
    const { ask } = await start();
    const find = async (q: string) =>
      (await ask(`/api/v1/admin/search?q=${encodeURIComponent(q)}`)).json<{ hits: { why: string }[] }>().hits;
    await eventually(async () =>
      expect(await find('pay_1')).toMatchObject([{ why: 'token', isWhole: true, id: 'pay_1', team: 'shop' }]),
    );
    await eventually(async () => expect(await find('#a')).toHaveLength(2));
    expect(await find('pay_1.2')).toMatchObject([{ kind: 'payment', id: 'pay_1' }]);
    expect(await find('SHO')).toMatchObject([{ kind: 'team', id: 'shop', isWhole: false }]);
    expect(await find('k1')).toMatchObject([{ kind: 'key', id: 'k1', team: 'shop' }]);
    expect(await find(`${planted}-service-token-1234`)).toMatchObject([
      { why: 'service-token', id: 'pay_1' },
    ]);
    expect(await find('nothing')).toEqual([]);
    const overview = (await ask('/api/v1/admin/overview')).json<{ hours: { openReviews: number }[] }>();
    expect(overview).toMatchObject({ reviews: 1, unresolved: 0, readModelLagMs: expect.any(Number) });
    expect(overview).toMatchObject({ payoutsToApprove: 0, openDisputes: 0 });
    expect(overview.hours).toHaveLength(24);
    expect(overview.hours.at(-1)?.openReviews).toBe(1);
    for (const [query, count] of [
      ['', 1],
      ['?token=pay_2', 1],
      ['?environment=sandbox&perPage=1', 1],
      ['?token=pay_1', 0],
      ['?environment=production', 0],
      ['?token=pay_2&environment=production', 0],
    ] as const) {
      const reviewed = (await ask(`/api/v1/admin/reviews${query}`)).json<{ reviews: object[] }>();
      expect(reviewed, query).toMatchObject({ count, reviews: count === 0 ? [] : [{ team: 'games' }] });
    }
    expect((await ask('/api/v1/admin/reviews?cursor=x')).statusCode).toBe(400);
    expect((await ask('/api/v1/admin/teams')).json()).toMatchObject({ teams: ['games', 'shop'] });
    expect((await ask('/api/v1/admin/accounts')).json()).toMatchObject({ accounts: [] });
  });
});

describe('open work, and decline reasons', () => {
  const { declined, refunding, unresolved } = happening;
  it('is listed and counted over all teams', async () => {
    const api = await startApi(async (store) => {
      await givenTeam(store, shop);
      await givenTeam(store, { team: 'games', keyId: 'k2' });
      const give = (token: string, ...events: Parameters<typeof projectEvents>[3]) =>
        projectEvents(store, paymentKind, token, events);
      await give('pay_1', requested({ orderNumber: '4711' }), unresolved);
      await give('pay_2', requested({ team: 'games', orderNumber: '4712' }), accepted, approved, refunding);
      await give('pay_3', requested(), accepted, declined);
      await projectEvents(store, disputeKind, 'dsp_1', [
        disputeOpened({ team: 'games', paymentToken: 'pay_2' }),
      ]);
    });
    const authorization = api.bearerOf('viewer');
    const ask = async (path: string) =>
      (await api.app.inject({ url: `/api/v1/admin/${path}`, headers: { authorization } })).json<object>();
    await eventually(async () => expect(tokensIn(await ask('payments'))).toHaveLength(3));
    expect(tokensIn(await ask('payments?unresolved=true')).toSorted()).toEqual(['pay_1', 'pay_2']);
    expect(tokensIn(await ask('payments?refundOpen=true'))).toEqual(['pay_2']);
    expect(await ask('payments?unresolved=false')).toMatchObject({ errors: [{ parameter: 'unresolved' }] });
    expect(await ask('payouts?refundOpen=true')).toMatchObject({ errors: [{ parameter: 'refundOpen' }] });
    expect(tokensIn(await ask('payments?declineReason=insufficient%20funds'))).toEqual(['pay_3']);
    expect(tokensIn(await ask('payments?declineReason=insufficient'))).toEqual([]);
    expect(await ask(`outcomes?team=shop&by=reason&createdFrom=1970-01-01T00:00:00Z`)).toMatchObject({
      counts: [{ group: 'insufficient funds', approved: 0, declined: 1 }],
    });
    expect(await ask('outcomes?by=team&step=hour&createdFrom=1970-01-01T00:00:00Z')).toMatchObject({
      counts: [
        { group: 'shop', approved: 0, declined: 1 },
        { group: 'games', approved: 1, declined: 0 },
      ],
    });
    expect(await ask('outcomes?createdBefore=1970-01-01T00:00:00Z')).toMatchObject({ counts: [] });
    expect(await ask('outcomes?by=color')).toMatchObject({ errors: [{ parameter: 'by' }] });
    expect(await ask('overview')).toMatchObject({ unresolved: 2, unresolvedPayouts: 0, openDisputes: 1 });
    expect(await ask('payments/pay_2')).toMatchObject({ disputes: [{ id: 'D-1', paymentToken: 'pay_2' }] });
    expect(await ask('payments/pay_1')).toMatchObject({ disputes: [] });
    expect(await ask('search?q=471')).toMatchObject({
      hits: ['pay_1', 'pay_2'].map((id) => ({ why: 'order-number', id, isWhole: false })),
    });
    expect(await ask('search?q=pay_')).toMatchObject({ hits: Array(3).fill({ why: 'token' }) });
    expect(await ask('search?q=D-1')).toMatchObject({
      hits: [{ kind: 'dispute', id: 'dsp_1', paymentToken: 'pay_2', team: 'games' }],
    });
    expect(await ask('search?q=ref_')).toMatchObject({
      hits: [{ kind: 'refund', id: 'ref_1', isWhole: false, paymentToken: 'pay_2', phase: 'submitted' }],
    });
    expect(await ask('search?q=')).toMatchObject({ errors: [{ parameter: 'q' }] });
  });
});

it('finds the record of a request by its id, and its payment', async () => {
  const { ask, app } = await start();
  const authorization = `Bearer ${keyText(shop)}`;
  const headers = { authorization };
  const answer = await app.inject({ url: '/api/v1/payments/pay_1', headers });
  const id = String(answer.headers['request-id']);
  const find = async () =>
    (await ask(`/api/v1/admin/search?q=${id}`)).json<{ request?: object; hits: object[] }>();
  await eventually(async () => expect(await find()).toHaveProperty('request'));
  expect(await find()).toMatchObject({
    request: { id, team: 'shop', environment: 'sandbox', method: 'GET', status: 200, keyId: 'k1' },
    hits: [{ why: 'request', id: 'pay_1' }],
  });
});

// Under dual control the first of two answers waits, and may be one of a colleague.
it('the author of a first answer is shown to people, and to no key', async () => {
  const { ask, app, store } = await start();
  const { resolutionProposed } = happening;
  const data = { ...resolutionProposed.data, proposedBy: 'bob@company.example' };
  await projectEvents(store, paymentKind, 'pay_2', [{ ...resolutionProposed, data }]);
  const proposed = { proposal: { reason: 'by hand' }, proposedBy: 'bob@company.example' };
  await eventually(async () =>
    expect((await ask('/api/v1/admin/reviews')).json()).toMatchObject({ reviews: [proposed] }),
  );
  const headers = { authorization: `Bearer ${keyText({ team: 'games', keyId: 'k2' })}` };
  for (const path of ['payments/pay_2', 'payments/pay_2/events', 'reviews']) {
    const { body } = await app.inject({ url: `/api/v1/${path}`, headers });
    expect(body, path).toContain('by hand');
    expect(body, path).not.toContain('company.example');
  }
});

describe('views that a person saves', () => {
  const post = (payload: object) => ({ method: 'POST' as const, payload });

  it('are the person’s own, and are recorded as everything that a person does', async () => {
    const { ask, recorded } = await start();
    const view = { name: 'Shop', query: 'team=shop&order=oldest' };
    expect((await ask('/api/v1/admin/views', post(view))).json()).toMatchObject({ views: [view] });
    expect((await ask('/api/v1/admin/views')).json()).toMatchObject({ views: [view] });
    expect(recorded.map(({ command }) => command)).toEqual(['POST /api/v1/admin/views']);
    const removed = await ask('/api/v1/admin/views/remove', post({ name: 'Shop' }));
    expect(removed.json()).toMatchObject({ success: true, views: [] });
  });

  // They were the one text of the API that was stored unchecked: a card number, with dashes or none, stayed in the event store.
  it('are refused without a name or as a URL, and contain no card number and no invisible characters', async () => {
    const { ask } = await start();
    for (const payload of [
      { name: '', query: '' },
      { name: 'x', query: 'https://elsewhere' },
      { name: 'x' },
      { name: '4392 – 9632 – 0355 – 1251', query: '' },
      { name: 'x', query: 'orderNumber=4392%209632*0355-1251' },
      { name: 'turned\u202eround', query: '' },
    ])
      expect((await ask('/api/v1/admin/views', post(payload))).json(), payload.name).toMatchObject({
        errors: [{ code: 'invalid_param' }],
      });
    expect((await ask('/api/v1/admin/views')).json()).toMatchObject({ views: [] });
  });

  it('are limited in number', async () => {
    const { ask } = await start();
    for (let count = 0; count < savedViewsMax; count += 1)
      await ask('/api/v1/admin/views', post({ name: `view ${count}`, query: '' }));
    expect((await ask('/api/v1/admin/views', post({ name: 'more', query: '' }))).json()).toMatchObject({
      errors: [{ code: 'too_many_views' }],
    });
  });
});

// An unknown account was reconciled and reported as unknown: any text as its name stayed in the event store.
it('a card number is no account to be reconciled', async () => {
  const { ask } = await start();
  const payload = { environment: 'sandbox', account: '4392 9632 0355 1251', day: '2026-01-31' };
  const answer = await ask('/api/v1/admin/reconciliations', { role: 'admin', method: 'POST', payload });
  expect(answer.json()).toMatchObject({ errors: [{ code: 'invalid_param', parameter: 'account' }] });
});

describe('permissions', () => {
  it('a person acts within a named team, as far as the role allows', async () => {
    const { ask } = await start();
    const read = async (headers: Record<string, string>, role: OperatorRole = 'viewer') =>
      (await ask('/api/v1/payments/pay_2', { headers, role })).statusCode;
    expect(await read(within('games'))).toBe(200);
    expect(await read(within('shop'))).toBe(404);
    expect(await read(within('games', 'production'))).toBe(404);
    expect(await read({})).toBe(403);
    const wrong = await ask('/api/v1/payments/pay_2', { headers: within('nobody') });
    expect(wrong.json()).toMatchObject({ errors: [{ code: 'incorrect_team', parameter: 'Tollgate-Team' }] });
    expect(await read(within('games', 'nowhere'))).toBe(400);
  });

  it("a person's command is recorded before it is executed, with the person and without texts", async () => {
    const { ask, recorded } = await start();
    const payload = { code: 'discrepancy', number: 9, resolution: 'keep_ours', reason: 'secret words' };
    const headers = within('games');
    await ask('/api/v1/reviews/pay_2/resolve', { role: 'operator', method: 'POST', headers, payload });
    expect(recorded).toEqual([
      {
        person: { kind: 'person', name: 'ada', source: 'command-line' },
        command: 'POST /api/v1/reviews/:token/resolve',
        detail: {
          team: 'games',
          environment: 'sandbox',
          role: 'operator',
          address: '127.0.0.1',
          token: 'pay_2',
          usedCredentialId: expect.stringMatching(/^[0-9a-f]{24}$/),
        },
      },
    ]);
  });

  /** A card number was pasted in place of a name: the request was refused, and the number stored for years. */
  it.each<[url: string, payload: object, OperatorRole]>([
    ['/api/v1/admin/views', { name: 'VALUE', query: 'phase=init' }, 'viewer'],
    [
      '/api/v1/admin/reconciliations',
      { environment: 'sandbox', account: 'VALUE', day: '2026-01-31' },
      'support',
    ],
    ['/api/v1/refunds', { token: 'VALUE', amount: 1 }, 'support'],
    ['/api/v1/admin/keys/VALUE/revoke', { team: 'shop' }, 'admin'],
    ['/api/v1/admin/webhooks/replay', { id: 'VALUE' }, 'support'],
    ['/api/v1/admin/teams', { team: 'VALUE' }, 'admin'],
  ])(
    '%s: no card number and no secret is recorded, even of a refused request',
    async (url, payload, role) => {
      const { ask, recorded } = await start();
      const headers = { ...(url === '/api/v1/refunds' ? within('games') : {}), 'idempotency-key': 'x' };
      const values = [
        '4392963203551251',
        '4392 9632 0355 1251',
        'tg_live_c2VjcmV0',
        `whsec_${'c2VjcmV0'.repeat(4)}`,
      ];
      for (const value of values) {
        const of = (text: string) => text.replace('VALUE', value);
        const body = JSON.parse(of(JSON.stringify(payload))) as object;
        await ask(url.replace('VALUE', encodeURIComponent(value)), {
          role,
          method: 'POST',
          headers,
          payload: body,
        });
      }
      expect(recorded).toHaveLength(values.length);
      for (const { detail } of recorded) expect(Object.values(detail)).toContain('***');
      for (const value of values) expect(JSON.stringify(recorded)).not.toContain(value);
    },
  );
});

describe('money across teams', () => {
  it("is listed by entry, summed by month, and part of the wallets' balances", async () => {
    const { ask } = await start();
    interface Journal {
      entries: { token: string; team?: string }[];
      nextCursor?: string;
    }
    const journal = async (query: string) => (await ask(`/api/v1/admin/journal${query}`)).json<Journal>();
    await eventually(async () => expect((await journal('')).entries).toHaveLength(2));
    const teamsOf = async (query: string) => (await journal(query)).entries.map(({ team }) => team);
    expect(new Set(await teamsOf(''))).toEqual(new Set(['shop', 'games']));
    expect(await teamsOf('?team=games&kind=payment')).toEqual(['games']);
    expect(await teamsOf('?wallet=team-shop&ledgerAccount=available')).toEqual(['shop']);
    expect(await teamsOf('?wallet=team-shop&environment=production')).toEqual([]);
    const { nextCursor } = await journal('?perPage=1');
    expect((await journal(`?perPage=1&cursor=${nextCursor}`)).entries).toHaveLength(1);
    expect((await ask(`/api/v1/admin/journal?perPage=1&kind=refund&cursor=${nextCursor}`)).statusCode).toBe(
      400,
    );
    const { body } = await ask('/api/v1/admin/journal.csv?team=shop');
    expect(body).toMatch(/^\uFEFFenvironment,team,time,/);
    expect(body.split('\r\n')).toHaveLength(4);

    interface Sums {
      statements: { wallet: string; closing: Record<string, number> }[];
      balances: { wallet: string; amounts: Record<string, number> }[];
    }
    const { statements } = (await ask('/api/v1/admin/statements?month=2026-01')).json<Sums>();
    const { balances } = (await ask('/api/v1/admin/balances')).json<Sums>();
    expect(statements.map(({ wallet, closing }) => [wallet, closing])).toEqual(
      balances.map(({ wallet, amounts }) => [wallet, amounts]),
    );
    expect(balances).toMatchObject([
      { wallet: 'team-games', amounts: { customers: -1_500, available: 1_500 } },
      { wallet: 'team-shop', amounts: { customers: -1_500, available: 1_500 } },
    ]);
    const one = (await ask('/api/v1/admin/balances?team=shop')).json<Sums>();
    expect(one.balances.map(({ wallet }) => wallet)).toEqual(['team-shop']);
    expect((await ask('/api/v1/admin/statements.csv?month=2026-01&wallet=team-shop')).body).toContain(
      'team-shop',
    );
  });
});
