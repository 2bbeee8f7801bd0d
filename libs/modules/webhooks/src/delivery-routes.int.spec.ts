import { StoreUnavailable, type EventStore } from '@tollgate/event-store';
import { systemIds } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { startEndpointApi } from './testing/endpoint-api.ts';
import { dueOf } from './testing/subjects.ts';
import { createWebhookJournal } from './webhook-journal.ts';
import { replaysMax, type Outcome } from './webhook-state.ts';

const url = 'https://shop.example/hook';
const startedAt = Date.UTC(2030, 0, 1);
const { body } = dueOf('pay_1');

async function start(wrap?: (store: EventStore) => EventStore) {
  const api = await startEndpointApi(wrap);
  const { store, clock } = api;
  const journal = createWebhookJournal({ store, clock, ids: { ...systemIds, fraction: () => 0 } });
  return { ...api, journal };
}
type Started = Awaited<ReturnType<typeof start>>;

async function due({ journal }: Started, ...ids: string[]): Promise<void> {
  const cause = { correlationId: 'c', causationId: 'c' };
  const notices = ids.map((id) => dueOf('pay_1', { id, at: startedAt }));
  await journal.recordDue('pay_1', notices, cause);
}

async function tried({ journal }: Started, id: string, outcome: Outcome): Promise<void> {
  await journal.recordOutcome('pay_1', id, outcome);
}

const path = 'webhooks?token=pay_1';
const ofPayment = { token: 'pay_1' };
const codesOf = (answer: { body: { errors: { code: string }[] } }) =>
  answer.body.errors.map(({ code }) => code);

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
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        perPage: expect.any(Number),
        webhooks: [
          {
            id: 'whk_1',
            ...common,
            state: 'delivered',
            deliveries: [
              { attempt: 1, at, outcome: 'failed', reason: 'timeout' },
              { attempt: 2, at: later, outcome: 'delivered', statusCode: 204 },
            ],
          },
          {
            id: 'whk_2',
            ...common,
            state: 'open',
            nextAttemptAt: '2030-01-01T00:00:11.000Z',
            deliveries: [{ attempt: 1, at: later, outcome: 'failed', statusCode: 500 }],
          },
          { id: 'whk_3', ...common, state: 'open', deliveries: [] },
        ],
      },
    ]);
  });

  it('of a payment is filtered by status, endpoint and time like the list of all', async () => {
    const given = await start();
    await due(given, 'whk_1', 'whk_2', 'whk_3');
    await tried(given, 'whk_1', { kind: 'answered', statusCode: 204 });
    await tried(given, 'whk_2', { kind: 'answered', statusCode: 500 });
    const idsOf = async (filter: string) =>
      (await given.call('GET', `${path}&${filter}`)).body.webhooks.map(({ id }) => id);
    expect(await idsOf('status=delivered')).toEqual(['whk_1']);
    expect(await idsOf('status=retrying')).toEqual(['whk_2']);
    expect(await idsOf('status=open')).toEqual(['whk_2', 'whk_3']);
    for (const none of ['status=failed', 'endpoint=we_1', 'createdBefore=2029-12-31T00:00:00Z'])
      expect(await idsOf(none)).toEqual([]);
  });

  it.each(['pay_1', 'pay_2', 'pay_3', 'pay_none', '..%2Fpay_1', 'x'.repeat(90), '%20'])(
    "covers the team's own payments only: %s is not found",
    async (token) => {
      const given = await start();
      await due(given, 'whk_1');
      const listed = await given.call('GET', `webhooks?token=${token}`, undefined, 'games');
      expect([listed.status, listed.body.webhooks]).toEqual([200, []]);
      for (const asked of [{ token: decodeURIComponent(token) }, { id: 'whk_1' }]) {
        const answer = await given.call('POST', 'webhooks/replay', asked, 'games');
        expect([answer.status, codesOf(answer)]).toEqual([404, ['webhook_not_found']]);
      }
    },
  );

  it('lists those of all payments without a token, and none of another team or environment', async () => {
    const given = await start();
    await due(given, 'whk_1', 'whk_2');
    await tried(given, 'whk_1', { kind: 'answered', statusCode: 200 });
    const idsOf = async (query: string, key: Parameters<Started['call']>[3]) =>
      (await given.call('GET', `webhooks${query}`, undefined, key)).body.webhooks.map(({ id }) => id);
    expect(await idsOf('', 'shop')).toEqual(['whk_2', 'whk_1']);
    expect(await idsOf('?status=delivered', 'shop')).toEqual(['whk_1']);
    expect(await idsOf('?status=retrying', 'shop')).toEqual([]);
    for (const key of ['games', 'production'] as const) expect(await idsOf('', key)).toEqual([]);
  });
});

describe('a replay', () => {
  it('of one webhook, or of all of a payment, is recorded with the key', async () => {
    const given = await start();
    await due(given, 'whk_1', 'whk_2');
    for (const id of ['whk_1', 'whk_2']) await tried(given, id, { kind: 'answered', statusCode: 200 });
    const replay = (asked: object) => given.call('POST', 'webhooks/replay', asked);
    const one = await replay({ ...ofPayment, id: 'whk_2' });
    expect([one.status, one.body]).toEqual([202, { success: true, replayed: 1 }]);
    expect((await replay(ofPayment)).body).toEqual({ success: true, replayed: 1 });
    expect((await replay({ status: 'delivered' })).body).toEqual({ success: true, replayed: 0 });
    const events = await Array.fromAsync(given.store.read('webhook-pay_1'));
    const requested = events.filter(({ type }) => type === 'ReplayRequested');
    expect(requested.map(({ data }) => (data as { id: string }).id)).toEqual(['whk_2', 'whk_1']);
    expect(requested[0]?.metadata).toMatchObject({ actor: { kind: 'team', team: 'shop', keyId: 'k1' } });
  });

  it('of all failed, or all delivered, continues at its cursor', async () => {
    const given = await start();
    await due(given, 'whk_1', 'whk_2', 'whk_3');
    await tried(given, 'whk_1', { kind: 'abandoned' });
    await tried(given, 'whk_2', { kind: 'answered', statusCode: 200 });
    const replay = async (asked: object) =>
      (await given.call('POST', 'webhooks/replay', asked)).body.replayed;
    expect(await replay({ createdBefore: '2029-12-31T00:00:00Z' })).toBe(0);
    expect([await replay({}), await replay({})]).toEqual([1, 0]);
    expect(await replay({ status: 'delivered' })).toBe(1);
    const wrong = await given.call('POST', 'webhooks/replay', { cursor: 'x' });
    expect([wrong.status, codesOf(wrong)]).toEqual([400, ['invalid_param']]);
  });

  it.each([{ id: 7 }, { ids: ['whk_1'] }, 'whk_1'])('of %j is refused', async (payload) => {
    const { call } = await start();
    const answer = await call('POST', 'webhooks/replay', payload);
    expect([answer.status, codesOf(answer)]).toEqual([400, ['invalid_param']]);
  });

  it('is refused beyond the limit', async () => {
    const given = await start();
    await due(given, 'whk_1');
    const data = { id: 'whk_1', at: startedAt };
    const replays = Array.from({ length: replaysMax }, () => ({
      id: systemIds.uuid(),
      type: 'ReplayRequested',
      data,
      metadata: {},
    }));
    await given.store.append('webhook-pay_1', replays, 'any');
    await tried(given, 'whk_1', { kind: 'answered', statusCode: 200 });
    const answer = await given.call('POST', 'webhooks/replay', ofPayment);
    expect([answer.status, codesOf(answer)]).toEqual([409, ['too_many_replays']]);
  });

  it('is answered 503 while the store is unavailable', async () => {
    const { call } = await start((store) => ({
      ...store,
      read: () => {
        throw new StoreUnavailable('store_busy', 'busy');
      },
    }));
    const answer = await call('POST', 'webhooks/replay', ofPayment);
    expect([answer.status, codesOf(answer), answer.headers['retry-after']]).toEqual([
      503,
      ['store_unavailable'],
      '1',
    ]);
  });
});

it('webhooks of a payout are shown and replayed like those of a payment', async () => {
  const { call, journal } = await start();
  const ofPayout = { ...body, token: 'po_1', type: 'payout' as const };
  const notice = dueOf('po_1', { id: 'whk_1', team: 'payer', at: startedAt, body: ofPayout });
  await journal.recordDue('po_1', [notice], { correlationId: 'c', causationId: 'c' });
  await journal.recordOutcome('po_1', 'whk_1', { kind: 'answered', statusCode: 200 });
  expect((await call('GET', 'webhooks?token=po_1', undefined, 'payer')).body).toMatchObject({
    webhooks: [{ id: 'whk_1', state: 'delivered', body: { type: 'payout' } }],
  });
  const replayed = await call('POST', 'webhooks/replay', { token: 'po_1' }, 'payer');
  expect([replayed.status, replayed.body.replayed]).toEqual([202, 1]);
  expect((await journal.load('po_1')).state.webhooks).toMatchObject([{ state: 'open' }]);
});
