import { StoreUnavailable, type EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { createTeamDirectory } from '@tollgate/teams';
import { appendEvents, appendPayment } from '@tollgate/view-index/testing';
import { happening } from '@tollgate/views/testing';
import { givenTeam, testVerifier } from '@tollgate/teams/testing';
import { answerInJsonOnly, httpServerOptions, silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEndpointBook } from './endpoints/endpoint-book.ts';
import { createWebhookJournal } from './webhook-journal.ts';
import { replaysMax, type Outcome } from './webhook-state.ts';
import { registerWebhookRoutes } from './routes.ts';
import { payoutWithCallback, requestedWithCallback } from './testing/subjects.ts';

const url = 'https://shop.example/hook';
const startedAt = Date.UTC(2030, 0, 1);
const body = {
  ...{ token: 'pay_1', type: 'payment' as const, status: 'approved' as const, orderNumber: 'order-1' },
  ...{ amount: 1_500, currency: 'EUR' },
};

async function start(wrap: (store: EventStore) => EventStore = (store) => store) {
  const store = await temporaryStore();
  const keys = {
    shop: await givenTeam(store, { team: 'shop', keyId: 'k1', scopes: ['payments'] }),
    reader: await givenTeam(store, { team: 'reader', keyId: 'k2', scopes: ['read'] }),
    games: await givenTeam(store, { team: 'games', keyId: 'k3', scopes: ['payments', 'read'] }),
    other: await givenTeam(store, { team: 'other', keyId: 'k4', scopes: ['refunds', 'admin'] }),
    payer: await givenTeam(store, { team: 'payer', keyId: 'k6', scopes: ['payouts'] }),
    production: await givenTeam(store, { team: 'production', keyId: 'k5', environment: 'production' }),
  };
  await appendPayment(store, 'pay_1', [requestedWithCallback(url), happening.accepted, happening.approved]);
  await appendPayment(store, 'pay_2', [requestedWithCallback(url, { team: 'reader' }), happening.accepted]);
  await appendPayment(store, 'pay_3', [requestedWithCallback(url, { team: 'production' })]);
  await appendEvents(store, 'payout-po_1', [payoutWithCallback(url, { team: 'payer' })]);
  await appendEvents(store, 'payout-po_2', [payoutWithCallback(url, { team: 'reader' })]);
  const clock = createFakeClock({ now: startedAt });
  const log = silentLog;
  const journal = createWebhookJournal({
    store: wrap(store),
    clock,
    ids: { ...systemIds, fraction: () => 0 },
  });
  const directory = createTeamDirectory({ store, clock, verifier: testVerifier, log });
  await directory.start();
  const app = fastify(httpServerOptions({ bodyLimitBytes: 1_024 }));
  answerInJsonOnly(app, log);
  const book = createEndpointBook({ store, clock, ids: systemIds });
  registerWebhookRoutes(app, { store, journal, book, directory, log });
  onTestFinished(async () => {
    await app.close();
    await directory.stop();
  });
  const call = (method: 'GET' | 'POST', path: string, key: keyof typeof keys = 'shop', payload?: unknown) =>
    app.inject({
      method,
      url: `/api/v1/${path}`,
      headers: {
        authorization: `Bearer ${keys[key]}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
    });
  return { store, journal, clock, call, app };
}
type Started = Awaited<ReturnType<typeof start>>;

async function due({ journal }: Started, ...ids: string[]): Promise<void> {
  const cause = { correlationId: 'c', causationId: 'c' };
  const common = { environment: 'sandbox' as const, team: 'shop', url, body, at: startedAt };
  await journal.recordDue(
    'pay_1',
    ids.map((id) => ({ id, ...common })),
    cause,
  );
}

async function tried({ journal }: Started, id: string, outcome: Outcome): Promise<void> {
  await journal.recordOutcome('pay_1', id, outcome);
}

const path = 'payments/pay_1/webhooks';
const codesOf = (answer: { json: () => { errors: { code: string; parameter?: string }[] } }) =>
  answer.json().errors.map(({ code }) => code);

describe('the record of deliveries', () => {
  it('shows each webhook with its attempts', async () => {
    const given = await start();
    await due(given, 'whk_1', 'whk_2', 'whk_3');
    await tried(given, 'whk_1', { kind: 'failed', reason: 'timeout' });
    await given.clock.advance(6_000);
    await tried(given, 'whk_1', { kind: 'answered', statusCode: 204 });
    await tried(given, 'whk_2', { kind: 'answered', statusCode: 500 });
    const answer = await given.call('GET', path);
    const at = '2030-01-01T00:00:00.000Z';
    const later = '2030-01-01T00:00:06.000Z';
    const common = { url, body, createdAt: at };
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      {
        success: true,
        webhooks: [
          {
            ...{ id: 'whk_1', ...common, state: 'delivered' },
            deliveries: [
              { attempt: 1, at, outcome: 'failed', reason: 'timeout' },
              { attempt: 2, at: later, outcome: 'delivered', statusCode: 204 },
            ],
          },
          {
            ...{ id: 'whk_2', ...common, state: 'open', nextAttemptAt: '2030-01-01T00:00:11.000Z' },
            deliveries: [{ attempt: 1, at: later, outcome: 'failed', statusCode: 500 }],
          },
          { id: 'whk_3', ...common, state: 'open', deliveries: [] },
        ],
      },
    ]);
  });

  it('is empty if there were no webhooks', async () => {
    const { call } = await start();
    expect((await call('GET', path)).json()).toEqual({ success: true, webhooks: [] });
    expect((await call('GET', 'payments/pay_2/webhooks', 'reader')).statusCode).toBe(200);
  });

  it.each(['pay_1', 'pay_2', 'pay_3', 'pay_none', '..%2Fpay_1', 'x'.repeat(200), '%20'])(
    'is of the own payments only, %s is not',
    async (token) => {
      const { call } = await start();
      for (const method of ['GET', 'POST'] as const) {
        const tail = method === 'GET' ? 'webhooks' : 'webhooks/replay';
        const answer = await call(method, `payments/${token}/${tail}`, 'games');
        expect([answer.statusCode, codesOf(answer)]).toEqual([404, ['payment_not_found']]);
      }
    },
  );

  it('is of the environment of the key only', async () => {
    const { call } = await start();
    const answer = await call('GET', 'payments/pay_3/webhooks', 'production');
    expect([answer.statusCode, codesOf(answer)]).toEqual([404, ['payment_not_found']]);
  });

  it('needs a key that may read', async () => {
    const { call, app } = await start();
    const answer = await call('GET', path, 'other');
    expect([answer.statusCode, codesOf(answer)]).toEqual([403, ['scope_missing']]);
    const nobody = await app.inject({ url: `/api/v1/${path}` });
    expect([nobody.statusCode, codesOf(nobody)]).toEqual([401, ['auth_header_not_found']]);
  });
});

describe('a replay', () => {
  it('of one webhook, or without a body of all, is requested in the name of the key', async () => {
    const given = await start();
    await due(given, 'whk_1', 'whk_2');
    for (const id of ['whk_1', 'whk_2']) await tried(given, id, { kind: 'answered', statusCode: 200 });
    const one = await given.call('POST', `${path}/replay`, 'shop', { id: 'whk_2' });
    expect([one.statusCode, one.json()]).toEqual([202, { success: true, webhooks: [{ id: 'whk_2' }] }]);
    const all = await given.call('POST', `${path}/replay`);
    expect(all.json().webhooks).toEqual([{ id: 'whk_1' }, { id: 'whk_2' }]);
    const events = await Array.fromAsync(given.store.read('webhook-pay_1'));
    const requested = events.filter(({ type }) => type === 'ReplayRequested');
    expect(requested.map(({ data }) => (data as { id: string }).id)).toEqual(['whk_2', 'whk_1']);
    expect(requested[0]?.metadata).toMatchObject({ actor: { kind: 'team', team: 'shop', keyId: 'k1' } });
  });

  it('of an unknown webhook is refused', async () => {
    const given = await start();
    for (const payload of [undefined, { id: 'whk_9' }]) {
      const answer = await given.call('POST', `${path}/replay`, 'shop', payload);
      expect([answer.statusCode, codesOf(answer)]).toEqual([404, ['webhook_not_found']]);
    }
  });

  it.each([{ id: 7 }, { ids: ['whk_1'] }, 'whk_1'])('of %j is refused', async (payload) => {
    const { call } = await start();
    const answer = await call('POST', `${path}/replay`, 'shop', payload);
    expect([answer.statusCode, codesOf(answer)]).toEqual([400, ['invalid_param']]);
  });

  it('is refused beyond the limit', async () => {
    const given = await start();
    await due(given, 'whk_1');
    const data = { id: 'whk_1', at: startedAt };
    const replays = Array.from({ length: replaysMax }, () => ({
      ...{ id: systemIds.uuid(), type: 'ReplayRequested', data, metadata: {} },
    }));
    await given.store.append('webhook-pay_1', replays, 'any');
    await tried(given, 'whk_1', { kind: 'answered', statusCode: 200 });
    const answer = await given.call('POST', `${path}/replay`);
    expect([answer.statusCode, codesOf(answer)]).toEqual([409, ['too_many_replays']]);
  });

  it('needs a key that may change payments', async () => {
    const { call } = await start();
    const answer = await call('POST', 'payments/pay_2/webhooks/replay', 'reader');
    expect([answer.statusCode, codesOf(answer)]).toEqual([403, ['scope_missing']]);
  });

  it('is answered 503 while the store is unavailable', async () => {
    const { call } = await start((store) => ({
      ...store,
      read: () => {
        throw new StoreUnavailable('store_busy', 'busy');
      },
    }));
    const answer = await call('POST', `${path}/replay`);
    expect([answer.statusCode, codesOf(answer), answer.headers['retry-after']]).toEqual([
      503,
      ['store_unavailable'],
      '1',
    ]);
  });
});

describe('the webhooks of a payout', () => {
  const ofPayout = 'payouts/po_1/webhooks';

  async function startWithOne() {
    const given = await start();
    const notice = {
      ...{ id: 'whk_1', environment: 'sandbox' as const, team: 'payer', url, at: startedAt },
      body: { ...body, token: 'po_1', type: 'payout' as const },
    };
    await given.journal.recordDue('po_1', [notice], { correlationId: 'c', causationId: 'c' });
    await given.journal.recordOutcome('po_1', 'whk_1', { kind: 'answered', statusCode: 200 });
    return given;
  }

  it('are shown and replayed like those of a payment', async () => {
    const { call, journal } = await startWithOne();
    const shown = (await call('GET', ofPayout, 'payer')).json();
    expect(shown).toMatchObject({
      webhooks: [{ id: 'whk_1', state: 'delivered', body: { type: 'payout' } }],
    });
    const replayed = await call('POST', `${ofPayout}/replay`, 'payer');
    expect([replayed.statusCode, replayed.json().webhooks]).toEqual([202, [{ id: 'whk_1' }]]);
    expect((await journal.load('po_1')).state.webhooks).toMatchObject([{ state: 'open' }]);
    const unknown = await call('POST', `${ofPayout}/replay`, 'payer', { id: 'whk_9' });
    expect(unknown.json().errors).toMatchObject([
      {
        code: 'webhook_not_found',
        message: 'No webhook of this payout has this id. Take the id from the list of webhooks.',
      },
    ]);
  });

  it('are of its own team only, and found among payouts only', async () => {
    const { call } = await startWithOne();
    for (const [at, key, code] of [
      ['payouts/po_2/webhooks', 'payer', 'payout_not_found'],
      ['payouts/po_none/webhooks', 'payer', 'payout_not_found'],
      ['payouts/pay_2/webhooks', 'reader', 'payout_not_found'],
      ['payments/po_2/webhooks', 'reader', 'payment_not_found'],
    ] as const) {
      const answer = await call('GET', at, key);
      expect([at, answer.statusCode, codesOf(answer)]).toEqual([at, 404, [code]]);
    }
  });

  it('need a key for payouts, or one that may read and not replay', async () => {
    const { call } = await startWithOne();
    const read = 'payouts/po_2/webhooks';
    expect((await call('GET', read, 'reader')).statusCode).toBe(200);
    for (const [method, at, key] of [
      ['GET', read, 'shop'],
      ['POST', `${read}/replay`, 'shop'],
      ['POST', `${read}/replay`, 'reader'],
      ['GET', path, 'payer'],
    ] as const) {
      const answer = await call(method, at, key);
      expect([method, key, answer.statusCode, codesOf(answer)]).toEqual([
        method,
        key,
        403,
        ['scope_missing'],
      ]);
    }
  });
});
