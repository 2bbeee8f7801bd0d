/** The gateway's self-description: its answers match the documents, and its metrics count real events. */
import { dayMs } from '@tollgate/service-kit';
import { type Receiver, eventually, startReceiver } from '@tollgate/testing';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { operations } from '@tollgate/gateway-api/http';
import { isSigning } from './arrangement.ts';
import { issueKey, operatorOf, tollgate } from './commands.ts';
import { documentedGateway } from './documented.ts';
import { serviceTokenOf } from './ledger.ts';
import { type CallGateway, type System, startSystem, stopEverything } from './system.ts';

const approvedCard = '4392963203551251';
const json = { 'content-type': 'application/json' };
const card = { pan: approvedCard, expires: '12/2039', holder: 'Ada Lovelace', cvv: '737' };
const terms = { product: 'Tea', amount: 1250, currency: 'EUR' };
const settled = { timeoutMs: 30_000 };

let system: System;
let receiver: Receiver;
let team: Calls;
const seen = new Set<string>();

/** Calls below `/api/v1/`, each answered with the given status and as the document says. */
type Calls = ReturnType<typeof callsOf>;
function callsOf(gateway: CallGateway) {
  const ask = documentedGateway(gateway, seen);
  const expecting =
    (method: 'GET' | 'POST' | 'PATCH' | 'DELETE') =>
    async (status: number, path: string, body?: object, headers: Record<string, string> = {}) => {
      const answer = await ask(method, `/api/v1/${path}`, { headers, ...(body !== undefined && { body }) });
      expect(answer.statusCode, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(status);
      return { ...answer.body, headers: answer.headers };
    };
  const get = expecting('GET');
  const all = async (status: number, ...paths: string[]) => {
    for (const path of paths) await get(status, path);
  };
  return { ask, all, get, post: expecting('POST'), patch: expecting('PATCH'), remove: expecting('DELETE') };
}

beforeAll(async () => {
  receiver = await startReceiver();
  receiver.react(({ path }) => (path.endsWith('/down') ? 503 : 200));
  system = await startSystem({
    env: {
      PROVIDER_CALL_DEADLINE_MS: '1000',
      PROVIDER_SEND_WITHIN_MS: '1000',
      GATEWAY_REQUESTS_PER_SECOND: '100000',
    },
  });
  const key = await issueKey(system, 'demo', 'payments,refunds,payouts,read,cards,stored-cards,admin');
  await eventually(async () =>
    expect((await system.gatewayAs(key)('GET', '/api/v1/payments')).statusCode).toBe(200),
  );
  team = callsOf(system.gatewayAs(key));
}, 90_000);
afterAll(async () => {
  await stopEverything();
  await receiver.close();
});

const exampleOf = (id: string) => operations.find((operation) => operation.id === id)?.body?.example ?? {};
const under = (key: string) => ({ 'idempotency-key': key });
const asPerson = async (role: string) => callsOf(await operatorOf(system, 'ada', role));

const untilPhase = (token: string, phase: string) =>
  eventually(async () => expect((await team.get(200, `payments/${token}`)).payment.phase).toBe(phase));

/** @returns the token of a payment that a customer has paid, in this phase */
async function paid(more: object, phase = 'approved'): Promise<string> {
  const body = { ...terms, amount: 100_000, callbackUrl: receiver.url, ...more };
  const { token, processingUrl } = await team.post(200, 'payments', body);
  await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
  await untilPhase(token, phase);
  return token;
}

const readAll = (token: string) =>
  team.all(200, `payments/${token}`, `payments/${token}/events`, `webhooks?token=${token}`);

const loseOne = (operation: string) =>
  system.sandbox('POST', '/sandbox/faults', [{ operation, fault: 'error_before', times: 1 }]);

const delivered = (query: string) =>
  eventually(async () => {
    const { webhooks } = await team.get(200, `webhooks?${query}`);
    expect(webhooks.map(({ state }) => state)).toContain('delivered');
    return webhooks[0]?.id ?? '';
  });

describe('every answer matches the document', { timeout: 120_000 }, () => {
  it('of payments: the pasted example, its repeat, recurring, by card, two steps, lost, refused', async () => {
    const { post } = team;
    const example = exampleOf('createPayment');
    const { token } = await post(200, 'payments', example);
    expect((await post(200, 'payments', example)).headers['idempotent-replayed']).toBe('true');
    await post(422, 'payments', { ...example, amount: 1 });
    const first = await paid({ orderNumber: 'recurring', recurring: true });
    const { recurringToken } = (await team.get(200, `payments/${first}`)).payment;
    await post(200, 'payments', { ...terms, recurringToken }, under('charge'));
    await post(409, 'payments', { ...terms, recurringToken: 'rec_none' }, under('none'));
    await post(200, 'payments', { ...terms, card }, under('card'));
    await post(409, 'payments/confirm', { token });
    const authorized = await paid({ orderNumber: 'authorized', needConfirmation: true }, 'authorized');
    await post(200, 'payments/confirm', { token: authorized });
    await post(409, 'payments/decline', { token: authorized });
    const released = await paid({ orderNumber: 'released', needConfirmation: true }, 'authorized');
    await post(200, 'payments/decline', { token: released });
    await post(404, 'payments/decline', { token: 'pay_none' });
    await loseOne('create');
    const lost = await post(202, 'payments', { ...terms, card, orderNumber: 'lost' });
    for (const each of [token, first, authorized, released, lost.token]) await readAll(each);
    for (const wrong of [{ amount: 0 }, { currency: 'EU' }, { callbackUrl: 'x' }, {}])
      await post(400, 'payments', { ...terms, ...wrong });
  });

  it('of refunds and webhooks', async () => {
    const token = await paid({ orderNumber: 'refunded' });
    const { post } = team;
    await post(400, 'refunds', { token, amount: 500 });
    const refund = await post(200, 'refunds', { token, amount: 500 }, under('refund'));
    await post(200, 'refunds', { token, amount: 500 }, under('refund'));
    await post(422, 'refunds', { token, amount: 501 }, under('refund'));
    await post(409, 'refunds', { token, amount: 100_000 }, under('too much'));
    await post(404, 'refunds', { token: 'pay_none' }, under('nobody'));
    await team.get(200, `refunds/${refund.token}`);
    await team.get(404, 'refunds/ref_none');
    for (const path of [`refunds/${refund.token}`, `payments/${token}`])
      await team.get(304, path, undefined, { 'if-none-match': '*' });
    await delivered(`token=${token}`);
    await post(202, 'webhooks/replay', { token });
    await post(404, 'webhooks/replay', { id: 'whk_none' });
    await post(400, 'webhooks/replay', { other: 1 });
    await readAll(token);
  });

  it('of permanent webhook endpoints', async () => {
    const { all, post, patch, remove } = team;
    const path = 'webhook-endpoints';
    const url = `${receiver.url}/standing`;
    const { id } = (await post(201, path, { url, events: ['payment.approved'] })).endpoint;
    const one = `${path}/${id}`;
    await post(409, path, { url });
    await post(400, path, { url: 'https://elsewhere.example' });
    await all(200, path, one);
    await post(202, `${one}/test`);
    const webhook = await delivered(`endpoint=${id}`);
    await post(202, 'webhooks/replay', { id: webhook });
    await post(202, 'webhooks/replay', { endpoint: id, status: 'delivered' });
    await post(200, `${one}/rotate-secret`);
    await patch(200, one, { status: 'disabled' });
    await post(409, `${one}/test`);
    await remove(200, one);
    await remove(404, one);
  });

  it('of payouts, reviews, the balance, disputes and lists', async () => {
    const { all, get, post } = team;
    const funds = await paid({ orderNumber: 'funds', amount: 1_000_000 });
    await system.sandbox('POST', '/sandbox/clock', { advanceMs: 2 * dayMs });
    const example = exampleOf('createPayout');
    await post(200, 'payouts', example);
    await post(200, 'payouts', example);
    await post(422, 'payouts', { ...example, amount: 501 });
    const destination = { card: { pan: card.pan, expires: card.expires } };
    await post(200, 'payouts', { ...example, orderNumber: 'to-card', destination });
    await post(409, 'payouts', { ...example, amount: 900_000_000, orderNumber: 'too much' });
    await loseOne('payout');
    await post(202, 'payouts', { ...example, orderNumber: 'lost' });
    const notified = { ...example, orderNumber: 'notified', callbackUrl: receiver.url };
    const { token } = await post(200, 'payouts', notified);
    await all(200, `payouts/${token}`, `payouts/${token}/events`);
    await all(404, 'payouts/po_none', 'payouts/po_none/events');
    await delivered(`token=${token}`);
    await post(202, 'webhooks/replay', { token });
    const disputed = { token: await serviceTokenOf(system.sandbox, funds), amount: 100 };
    expect((await system.sandbox('POST', '/sandbox/disputes', disputed)).statusCode).toBe(200);
    await eventually(async () => expect((await get(200, 'disputes/list')).disputes).toHaveLength(1), settled);
    await openAndResolveReview();
    const month = new Date().toISOString().slice(0, 7);
    await all(200, 'refunds', 'refunds.csv', 'disputes', 'disputes.csv', 'journal?perPage=5', 'journal.csv');
    await all(200, `statements?month=${month}`, `statements.csv?month=${month}`, 'totals?currency=EUR');
    await all(200, 'payments?perPage=2', 'payments?operationType=all&withTotal=true', 'payouts?perPage=1');
    await all(200, 'payments.csv?status=approved', 'reviews', 'balance?currency=EUR');
    await all(400, 'payments?perPage=0', 'payouts?cursor=x', 'reviews?page=1', 'totals?dateFrom=x');
    await all(400, 'balance?currency=eur', 'balance?currency=XXX');
    const [dispute] = (await get(200, 'disputes')).disputes;
    await get(200, `disputes/${dispute?.token}`);
  });

  it('of payouts that a second key approves or refuses', async () => {
    const rule = ['--environment', 'sandbox', '--currency', 'EUR', '--above', '50000'];
    await tollgate(system, 'team', 'approval', 'demo', ...rule);
    const second = callsOf(system.gatewayAs(await issueKey(system, 'demo', 'approvals')));
    await eventually(() => second.get(200, 'payouts'));
    for (const decision of ['approve', 'refuse']) {
      const wanted = { ...exampleOf('createPayout'), amount: 50_001, orderNumber: `to ${decision}` };
      const { token } = await team.post(202, 'payouts', wanted);
      await second.post(200, `payouts/${token}/check-destination`, exampleOf('checkPayoutDestination'));
      const body = decision === 'refuse' ? { reason: 'Not one of our accounts.' } : undefined;
      await second.post(200, `payouts/${token}/${decision}`, body);
      await team.post(decision === 'refuse' ? 409 : 200, 'payouts', wanted);
      await team.get(200, `payouts/${token}/events`);
    }
    await tollgate(system, 'team', 'approval', 'demo', ...rule.slice(0, 4), '--none');
  });

  async function openAndResolveReview(): Promise<void> {
    const token = await paid({ orderNumber: 'revised' });
    const revise = `/sandbox/payments/${await serviceTokenOf(system.sandbox, token)}/revise`;
    expect((await system.sandbox('POST', revise, { status: 'declined' })).statusCode).toBe(200);
    const code = await eventually(async () => {
      const found = (await team.get(200, 'reviews')).reviews.find((entry) => entry.token === token);
      if (found === undefined) throw new Error('no review is open yet');
      return found.code;
    }, settled);
    const reason = 'The Payment Service was inquired.';
    const resolve = (status: number, resolution: string, of = code) =>
      team.post(status, `reviews/${token}/resolve`, { code: of, number: 1, resolution, reason });
    await resolve(403, 'payout_not_made');
    await resolve(409, 'payment_not_made');
    await resolve(404, 'keep_ours', 'payout_not_found');
    await resolve(200, 'keep_ours');
  }

  it('of requests, events and reconciliations', async () => {
    const { all, get } = team;
    const { headers } = await get(200, 'payments');
    await eventually(() => get(200, `requests/${String(headers['request-id'])}`));
    await all(200, 'requests?perPage=2');
    await eventually(async () => expect((await get(200, 'events?perPage=5')).events).toHaveLength(5));
    const token = await eventually(async () => {
      const [latest] = (await get(200, 'reconciliations')).reconciliations;
      if (latest === undefined) throw new Error('no reconciliation has ended yet');
      return latest.token;
    }, settled);
    await all(200, `reconciliations/${token}`, `reconciliations/${token}/differences.csv`);
    await all(404, 'requests/req_none', 'reconciliations/rcn_none');
    await all(400, 'requests?status=9', 'events?cursor=x', 'reconciliations?cursor=x');
  });

  it('of callers without a key, of invalid bodies, and of too large reads', async () => {
    const stranger = documentedGateway(system.gatewayAs('none'), seen);
    for (const { method, path, scopes } of operations) {
      if (scopes === undefined) continue;
      const verb = method.toUpperCase() as Uppercase<typeof method>;
      const url = path.replaceAll(/\{\w+\}/g, 'pay_none');
      expect((await stranger(verb, url)).statusCode, url).toBe(401);
    }
    await team.post(415, 'payments', terms, { 'content-type': 'text/plain' });
    await team.post(413, 'payments', { product: 'x'.repeat(100_000) });
    for (const position of ['x', '9999999999999999'])
      await team.get(400, 'payments', undefined, { 'tollgate-min-position': position });
    for (const path of ['/healthz', '/readyz', '/openapi.json']) await team.ask('GET', path);
  });

  it('of operators', async () => {
    const { all, get, post } = await asPerson('operator');
    const { token } = (await get(200, 'admin/payments?perPage=5')).payments[0] ?? { token: '' };
    const month = new Date().toISOString().slice(0, 7);
    const [payout] = (await get(200, 'admin/payouts')).payouts;
    const [reconciliation] = (await get(200, 'admin/reconciliations')).reconciliations;
    const ofOne = [`payments/${token}`, `payments/${token}/events`, `payouts/${payout?.token}`];
    const lists =
      'reviews overview teams accounts views webhooks outcomes security-log keys balances payments.csv ' +
      'refunds refunds.csv disputes disputes.csv journal journal.csv';
    for (const path of [
      ...[...ofOne, `payouts/${payout?.token}/events`, `reconciliations/${reconciliation?.token}`],
      ...[...lists.split(' '), `statements?month=${month}`, `statements.csv?month=${month}`],
      ...[`search?q=${token}`, 'accounts/sandbox/sandbox/balance?currency=EUR'],
    ])
      await all(200, `admin/${path}`);
    await post(200, `admin/payments/${token}/inquire`);
    expect(await get(200, 'admin/me')).toMatchObject({ credential: expect.any(String) });
    await post(404, 'admin/me/revoke', { credentialId: 'a'.repeat(24) });
    await post(200, 'admin/views', { name: 'mine', query: 'team=demo' });
    await post(200, 'admin/views/remove', { name: 'mine' });
    const day = { environment: 'sandbox', account: 'sandbox', day: '2026-01-02', isDryRun: true };
    await post(200, 'admin/reconciliations', day);
    const within = (name: string) => ({ 'tollgate-team': name, 'tollgate-environment': 'sandbox' });
    await get(200, `payments/${token}`, undefined, within('demo'));
    await get(403, `payments/${token}`);
    await get(400, `payments/${token}`, undefined, within('nobody'));
    const log = await get(200, 'admin/security-log?kind=operator');
    expect(JSON.stringify(log)).toContain('/api/v1/admin/me/revoke');
  });

  it('of teams and keys, for a person allowed to change them', async () => {
    const { get, post } = await asPerson('admin');
    await get(200, 'admin/teams/demo');
    const money = { environment: 'sandbox', currency: 'EUR' };
    const way = { account: 'sandbox', from: 'team-demo', to: 'wallet-group' };
    const transfer = { ...money, ...way, amount: 1, reason: 'The team joined the group.' };
    await post(200, 'admin/transfers', transfer, under('joined'));
    const keyId = '0123456789ab';
    for (const [path, sent] of Object.entries({
      teams: { team: 'kiosk' },
      keys: { team: 'kiosk', environment: 'sandbox', scopes: ['read'], keyId },
      [`keys/${keyId}/revoke`]: { team: 'kiosk' },
      'teams/kiosk/origins': { purpose: 'callback', origins: ['https://kiosk.example'] },
      'teams/kiosk/wallet': { wallet: { kind: 'shared', name: 'group' } },
      'teams/kiosk/approvals': { ...money, above: 100 },
      'teams/kiosk/limits': { ...money, operation: 'payout', perCall: null, perDay: 100 },
    }))
      await post(isSigning ? 200 : 409, `admin/${path}`, sent);
  });

  it('of tokens and sessions, which are revoked in every service', async () => {
    const argv = ['operator', 'token', '--role'];
    const printed = await tollgate<{ token: string; id: string }>(system, ...argv, 'admin');
    const { get, post } = callsOf(system.gatewayAs(printed.token));
    const linkArgv = ['--as', 'bob', 'operator', 'link', '--role', 'viewer'];
    const { link } = await tollgate<{ link: string }>(system, ...linkArgv);
    const linked = new URL(link).searchParams.get('link') ?? '';
    await callsOf(system.gatewayAs(linked)).post(200, 'admin/sign-ins');
    const listed = await get(200, 'admin/credentials?person=bob');
    expect(listed).toMatchObject({ count: 1, credentials: [{ kind: 'session' }] });
    const credentialId = listed.credentials[0]?.id;
    await post(200, 'admin/credentials/revoke', { credentialId });
    const { id } = await tollgate<{ id: string }>(system, ...argv, 'viewer');
    const own = await post(200, 'admin/me/revoke', { credentialId: id });
    expect(own).toMatchObject({ revoked: [{ id, kind: 'token' }] });
    expect(await get(200, 'admin/credentials?person=bob')).toMatchObject({ count: 0 });
    await post(200, 'admin/credentials/revoke', { credentialId: printed.id });
    for (const path of ['teams', 'views', 'webhooks']) await eventually(() => get(401, `admin/${path}`));
  });

  it('of merchant accounts, for a person allowed to pause them', async () => {
    const { get, post } = await asPerson('admin');
    for (const name of ['pause', 'drain', 'resume'])
      await post(200, `admin/accounts/sandbox/sandbox/${name}`, { reason: 'A spec.' });
    // Only a single process has its sandbox account in no file.
    const { hasFile } = await get(200, 'admin/accounts');
    await post(hasFile ? 200 : 409, 'admin/accounts/reload');
  });

  it('of webhooks that were not delivered, for operators', async () => {
    const { get, post } = await asPerson('support');
    const failing = { url: `${receiver.url}/down`, events: ['payment.approved'] };
    const { id } = (await team.post(201, 'webhook-endpoints', failing)).endpoint;
    await team.post(202, `webhook-endpoints/${id}/test`);
    const webhook = await eventually(async () => {
      const { webhooks } = await get(200, 'admin/webhooks?team=demo');
      const found = webhooks.find(({ endpoint }) => endpoint === id);
      expect(found).toBeDefined();
      return found?.id;
    });
    await get(200, 'admin/webhook-endpoints');
    await post(202, 'admin/webhooks/replay', { id: webhook });
    await post(202, 'admin/webhooks/replay', { team: 'demo' });
    await team.remove(200, `webhook-endpoints/${id}`);
  });

  it('and every call was answered successfully', () => {
    const possible = operations.filter(
      ({ id, errors }) => id !== 'reloadAccounts' && (isSigning || !errors?.includes('signing_key_missing')),
    );
    const wanted = possible.map(({ id, answers }) => `${id} ${Object.keys(answers)[0]}`);
    expect([...seen]).toEqual(expect.arrayContaining(wanted));
  });
});

async function scrape(): Promise<string> {
  const answer = await request(`${system.quickstart.metricsUrl}/metrics`);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^text\/plain/);
  return answer.body.text();
}

/** The sum of the series of a metric that have these labels, over all processes. */
function valueOf(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const values = text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)))
    .map((line) => Number(line.split(' ').at(-1)));
  return values.length === 0 ? undefined : values.reduce((a, b) => a + b, 0);
}

describe('the metrics', { timeout: 120_000 }, () => {
  it('count requests by route, calls by account and outcome, and callbacks by answer', async () => {
    const [before, everywhereBefore] = [await scrape(), await system.metrics()];
    const token = await paid({ orderNumber: 'measured' });
    await team.get(404, 'payments/pay_none');
    await request(`${system.quickstart.gatewayUrl}/nowhere/${token}`).then(({ body }) => body.dump());
    const forged = `${system.quickstart.callbackUrl}/callbacks/sandbox/${token}/forged`;
    await request(forged, { method: 'POST', headers: json, body: '{}' }).then(({ body }) => body.dump());
    const [after, everywhereAfter] = [await scrape(), await system.metrics()];
    const grownIn = (now: string, then: string) => (name: string, labels: Record<string, string>) =>
      (valueOf(now, name, labels) ?? 0) - (valueOf(then, name, labels) ?? 0);
    const grown = grownIn(everywhereAfter, everywhereBefore);
    // At the teams' entry point: requests are counted again behind it.
    const requested = grownIn(after, before).bind(undefined, 'tollgate_http_request_duration_seconds_count');
    expect(requested({ method: 'POST', route: '/api/v1/payments', status: '2xx' })).toBe(1);
    expect(requested({ method: 'GET', route: '/api/v1/payments/:token', status: '4xx' })).toBe(1);
    expect(requested({ method: 'none', route: 'none', status: '4xx' })).toBe(1);
    const calls = 'tollgate_provider_call_duration_seconds_count';
    const ofAccount = { environment: 'sandbox', account: 'sandbox', outcome: 'accepted' };
    expect(grown(calls, { ...ofAccount, operation: 'authorize' })).toBe(1);
    expect(grown(calls, { ...ofAccount, operation: 'inquire_payment' })).toBeGreaterThan(0);
    expect(grown('tollgate_callbacks_total', { status: '200' })).toBeGreaterThan(0);
    expect(grown('tollgate_callbacks_total', { status: '404' })).toBe(1);
  });

  it('show the state of the accounts and the views, and open work', async () => {
    await team.post(200, 'payments', { ...terms, orderNumber: 'not paid yet' });
    await eventually(async () => {
      const text = await system.metrics();
      const account = { environment: 'sandbox', account: 'sandbox' };
      for (const [name, labels, value] of [
        ['tollgate_account_breaker', { ...account, state: 'closed' }, 1],
        ['tollgate_account_breaker', { ...account, state: 'open' }, 0],
        ['tollgate_account_calls_under_way', account, 0],
        ['tollgate_account_waiting', account, 0],
        ['tollgate_projector_advancing', {}, 1],
        ['tollgate_projector_failed_streams', {}, 0],
        ['tollgate_read_model_lag_seconds', {}, 0],
        ['tollgate_unsigned_team_events', {}, 0],
      ] as const)
        expect(valueOf(text, name, labels), name).toBe(value);
      for (const [kind, state] of [
        ['payment', 'open'],
        ['payout', 'unresolved'],
      ] as const)
        expect(valueOf(text, 'tollgate_pending_inquiries', { kind, state })).toBeGreaterThan(0);
      expect(
        valueOf(text, 'tollgate_refused_requests_total', { code: 'incorrect_private_key' }),
      ).toBeGreaterThan(0);
      expect(valueOf(text, 'tollgate_open_reviews', { kind: 'payout' })).toBeDefined();
      expect(valueOf(text, 'nodejs_eventloop_lag_seconds')).toBeDefined();
    });
  });

  it('contain no private label: no token, team, key, order number or address', async () => {
    const text = await system.metrics();
    const { apiKey, paymentServiceKey, callbackUrl } = system.quickstart;
    const planted = ['demo', 'pay_', 'po_', 'ref_', 'rec_', 'order-1', 'measured', 'refunded', 'whk_', 'Tea'];
    const secrets = [apiKey, apiKey.split('_')[2] ?? '', paymentServiceKey, approvedCard];
    secrets.push(callbackUrl, receiver.url);
    for (const canary of [...planted, ...secrets]) expect(text, canary).not.toContain(canary);
    expect(text).not.toMatch(/https?:|127\.0\.0\.1|\/nowhere/);
    // Every label has a few values that we define.
    expect((await scrape()).split('\n').length).toBeLessThan(5_000);
  });
});
