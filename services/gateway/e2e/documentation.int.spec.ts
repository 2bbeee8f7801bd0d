/** The gateway's self-description: its answers match the documents, and its metrics count real events. */
import { dayMs } from '@tollgate/service-kit';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { operations } from '@tollgate/gateway-api/http';
import { isSigning } from './arrangement.ts';
import { issueKey, tollgate, tollgateExit } from './commands.ts';
import { documentedGateway } from './documented.ts';
import { serviceTokenOf } from './ledger.ts';
import { type CallGateway, type System, startSystem, stopEverything } from './system.ts';

const approvedCard = '4392963203551251';
const json = { 'content-type': 'application/json' };
const card = { pan: approvedCard, expires: '12/2039', holder: 'Ada Lovelace', cvv: '737' };

let system: System;
let call: CallGateway;
let receiver: ReturnType<typeof createServer>;
let callbackUrl: string;
const seen = new Set<string>();

beforeAll(async () => {
  receiver = createServer(({ url }, response) => {
    response.writeHead(url?.endsWith('/down') === true ? 503 : 200).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`;
  system = await startSystem({
    env: {
      PROVIDER_CALL_DEADLINE_MS: '1000',
      PROVIDER_SEND_WITHIN_MS: '1000',
      GATEWAY_REQUESTS_PER_SECOND: '100000',
    },
  });
  const key = await issueKey(system, 'demo', 'payments,refunds,payouts,read,cards,stored-cards,admin');
  call = documentedGateway(system.gatewayAs(key), seen);
  await eventually(async () =>
    expect((await system.gatewayAs(key)('GET', '/api/v1/payments')).statusCode).toBe(200),
  );
}, 90_000);
afterAll(async () => {
  await stopEverything();
  receiver.closeAllConnections();
  receiver.close();
});

const exampleOf = (id: string) => operations.find((operation) => operation.id === id)?.body?.example;

const post = (path: string, body: object, key?: string) =>
  call('POST', `/api/v1/${path}`, {
    body,
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });

/** Calls the gateway as a person with this role in all teams. */
async function asPerson(role: string): Promise<CallGateway> {
  const { token } = await tollgate<{ token: string }>(system, 'operator', 'token', '--role', role);
  return documentedGateway(system.gatewayAs(token), seen);
}

async function untilPhase(token: string, phase: string): Promise<void> {
  await eventually(async () => {
    const { body } = await call('GET', `/api/v1/payments/${token}`);
    expect(body.payment.phase).toBe(phase);
  });
}

async function paid(more: object): Promise<string> {
  const body = { product: 'Tea', amount: 100_000, currency: 'EUR', callbackUrl, ...more };
  const { token, processingUrl } = (await post('payments', body)).body;
  await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
  return token;
}

async function readAll(token: string): Promise<void> {
  for (const path of [`payments/${token}`, `payments/${token}/events`, `webhooks?token=${token}`])
    await call('GET', `/api/v1/${path}`);
}

const fault = (operation: string, kind: string) =>
  system.sandbox('POST', '/sandbox/faults', [{ operation, fault: kind, times: 1 }]);

describe('every answer matches the document', { timeout: 120_000 }, () => {
  it('of payments: the pasted example, its repeat, recurring, by card, two steps, lost, refused', async () => {
    const example = exampleOf('createPayment') ?? {};
    const created = await post('payments', example);
    expect(created.statusCode).toBe(200);
    expect((await post('payments', example)).headers['idempotent-replayed']).toBe('true');
    expect((await post('payments', { ...example, amount: 1 })).statusCode).toBe(422);
    const first = await paid({ orderNumber: 'recurring', recurring: true });
    await untilPhase(first, 'approved');
    const { recurringToken } = (await call('GET', `/api/v1/payments/${first}`)).body.payment as unknown as {
      recurringToken: string;
    };
    const terms = { product: 'Tea', amount: 1250, currency: 'EUR' };
    expect((await post('payments', { ...terms, recurringToken }, 'charge')).statusCode).toBe(200);
    expect((await post('payments', { ...terms, recurringToken: 'rec_none' }, 'none')).statusCode).toBe(409);
    expect((await post('payments', { ...terms, card }, 'card')).statusCode).toBe(200);
    const authorized = await paid({ orderNumber: 'authorized', needConfirmation: true });
    expect((await post('payments/confirm', { token: created.body.token })).statusCode).toBe(409);
    await untilPhase(authorized, 'authorized');
    expect((await post('payments/confirm', { token: authorized })).statusCode).toBe(200);
    expect((await post('payments/decline', { token: authorized })).statusCode).toBe(409);
    const released = await paid({ orderNumber: 'released', needConfirmation: true });
    await untilPhase(released, 'authorized');
    expect((await post('payments/decline', { token: released })).statusCode).toBe(200);
    expect((await post('payments/decline', { token: 'pay_none' })).statusCode).toBe(404);
    await fault('create', 'error_before');
    const lost = await post('payments', { ...terms, card, orderNumber: 'lost' });
    expect(lost.statusCode).toBe(202);
    for (const token of [created.body.token, first, authorized, released, lost.body.token])
      await readAll(token);
    for (const wrong of [
      { ...terms, amount: 0 },
      { ...terms, currency: 'EU' },
      { ...terms, callbackUrl: 'x' },
      terms,
    ])
      expect((await post('payments', wrong)).statusCode).toBe(400);
  });

  it('of refunds and webhooks', async () => {
    const token = await paid({ orderNumber: 'refunded' });
    await untilPhase(token, 'approved');
    expect((await post('refunds', { token, amount: 500 })).statusCode).toBe(400);
    const refunded = await post('refunds', { token, amount: 500 }, 'refund');
    expect(refunded.statusCode).toBe(200);
    await post('refunds', { token, amount: 500 }, 'refund');
    expect((await post('refunds', { token, amount: 501 }, 'refund')).statusCode).toBe(422);
    expect((await post('refunds', { token, amount: 100_000 }, 'too much')).statusCode).toBe(409);
    expect((await post('refunds', { token: 'pay_none' }, 'nobody')).statusCode).toBe(404);
    expect((await call('GET', `/api/v1/refunds/${refunded.body.token}`)).statusCode).toBe(200);
    expect((await call('GET', '/api/v1/refunds/ref_none')).statusCode).toBe(404);
    const known = { headers: { 'if-none-match': '*' } };
    for (const path of [`refunds/${refunded.body.token}`, `payments/${token}`])
      expect((await call('GET', `/api/v1/${path}`, known)).statusCode).toBe(304);
    await eventually(async () => {
      const { body } = await call('GET', `/api/v1/webhooks?token=${token}`);
      const { webhooks } = body as unknown as { webhooks: { state: string }[] };
      expect(webhooks.map(({ state }) => state)).toContain('delivered');
    });
    const replay = '/api/v1/webhooks/replay';
    expect((await call('POST', replay, { body: { token } })).statusCode).toBe(202);
    expect((await call('POST', replay, { body: { id: 'whk_none' } })).statusCode).toBe(404);
    expect((await call('POST', replay, { body: { other: 1 } })).statusCode).toBe(400);
    await readAll(token);
  });

  it('of permanent webhook endpoints', async () => {
    const path = '/api/v1/webhook-endpoints';
    const url = `${callbackUrl}/standing`;
    const { statusCode, body } = await call('POST', path, { body: { url, events: ['payment.approved'] } });
    expect(statusCode).toBe(201);
    const { endpoint } = body as unknown as { endpoint: { id: string } };
    const one = `${path}/${endpoint.id}`;
    expect((await call('POST', path, { body: { url } })).statusCode).toBe(409);
    expect((await call('POST', path, { body: { url: 'https://elsewhere.example' } })).statusCode).toBe(400);
    for (const shown of [path, one]) expect((await call('GET', shown)).statusCode).toBe(200);
    expect((await call('POST', `${one}/test`)).statusCode).toBe(202);
    const id = await eventually(async () => {
      const { webhooks } = (await call('GET', `/api/v1/webhooks?endpoint=${endpoint.id}`))
        .body as unknown as { webhooks: { id: string; state: string }[] };
      expect(webhooks.map(({ state }) => state)).toEqual(['delivered']);
      return webhooks[0]?.id ?? '';
    });
    for (const asked of [{ id }, { endpoint: endpoint.id, status: 'delivered' }])
      expect((await call('POST', '/api/v1/webhooks/replay', { body: asked })).statusCode).toBe(202);
    expect((await call('POST', `${one}/rotate-secret`)).statusCode).toBe(200);
    expect((await call('PATCH', one, { body: { status: 'disabled' } })).statusCode).toBe(200);
    expect((await call('POST', `${one}/test`)).statusCode).toBe(409);
    for (const expected of [200, 404]) expect((await call('DELETE', one)).statusCode).toBe(expected);
  });

  it('of payouts, reviews, the balance, disputes and lists', async () => {
    const funds = await paid({ orderNumber: 'funds', amount: 1_000_000 });
    await untilPhase(funds, 'approved');
    await system.sandbox('POST', '/sandbox/clock', { advanceMs: 2 * dayMs });
    const example = exampleOf('createPayout') ?? {};
    expect((await post('payouts', example)).statusCode).toBe(200);
    await post('payouts', example);
    const first = await post('payouts', { ...example, orderNumber: 'notified', callbackUrl });
    expect((await post('payouts', { ...example, amount: 501 })).statusCode).toBe(422);
    const toCard = {
      ...example,
      orderNumber: 'to-card',
      destination: { card: { pan: card.pan, expires: card.expires } },
    };
    expect((await post('payouts', toCard)).statusCode).toBe(200);
    const refused = await post('payouts', { ...example, amount: 900_000_000, orderNumber: 'too much' });
    expect(refused.statusCode).toBe(409);
    await fault('payout', 'error_before');
    expect((await post('payouts', { ...example, orderNumber: 'lost' })).statusCode).toBe(202);
    const ofPayout = [first.body.token, `${first.body.token}/events`];
    for (const path of [...ofPayout, 'po_none', 'po_none/events'])
      await call('GET', `/api/v1/payouts/${path}`);
    await eventually(async () => {
      const { body } = await call('GET', `/api/v1/webhooks?token=${first.body.token}`);
      expect((body as unknown as { webhooks: object[] }).webhooks).not.toEqual([]);
    });
    const replayed = await call('POST', '/api/v1/webhooks/replay', { body: { token: first.body.token } });
    expect(replayed.statusCode).toBe(202);
    const disputed = { token: await serviceTokenOf(system.sandbox, funds), amount: 100 };
    expect((await system.sandbox('POST', '/sandbox/disputes', disputed)).statusCode).toBe(200);
    await eventually(
      async () => {
        const { body } = await call('GET', '/api/v1/disputes/list');
        expect((body as unknown as { disputes: object[] }).disputes).toHaveLength(1);
      },
      { timeoutMs: 20_000 },
    );
    const revised = await paid({ orderNumber: 'revised' });
    await untilPhase(revised, 'approved');
    const revise = `/sandbox/payments/${await serviceTokenOf(system.sandbox, revised)}/revise`;
    expect((await system.sandbox('POST', revise, { status: 'declined' })).statusCode).toBe(200);
    await waitAndResolve(revised);
    const month = new Date().toISOString().slice(0, 7);
    const lists = [
      ...['refunds', 'refunds.csv', 'disputes', 'disputes.csv', 'journal?perPage=5', 'journal.csv'],
      ...[`statements?month=${month}`, `statements.csv?month=${month}`, 'totals?currency=EUR'],
      ...['payments?perPage=2', 'payments?operationType=all&withTotal=true', 'payouts?perPage=1'],
      'payments.csv?status=approved',
    ];
    const wrong = [
      ...['payments?perPage=0', 'payouts?cursor=x', 'reviews?page=1', 'balance?currency=eur'],
      'totals?dateFrom=x',
    ];
    for (const path of [...lists, ...wrong, 'reviews', 'balance?currency=EUR', 'balance?currency=XXX'])
      await call('GET', `/api/v1/${path}`);
    const { disputes } = (await call('GET', '/api/v1/disputes')).body as unknown as {
      disputes: { token: string }[];
    };
    expect((await call('GET', `/api/v1/disputes/${disputes[0]?.token}`)).statusCode).toBe(200);
  });

  it('of payouts that a second key approves or refuses', async () => {
    const rule = ['--environment', 'sandbox', '--currency', 'EUR', '--above', '50000'];
    await tollgate(system, 'team', 'approval', 'demo', ...rule);
    const key = await issueKey(system, 'demo', 'approvals');
    const second = documentedGateway(system.gatewayAs(key), seen);
    const example = exampleOf('createPayout') ?? {};
    for (const decision of ['approve', 'refuse']) {
      const wanted = { ...example, amount: 50_001, orderNumber: `to ${decision}` };
      await eventually(async () => expect((await second('GET', '/api/v1/payouts')).statusCode).toBe(200));
      const asked = await post('payouts', wanted);
      expect(asked.statusCode).toBe(202);
      const payout = `/api/v1/payouts/${asked.body.token}`;
      const compared = { body: exampleOf('checkPayoutDestination') ?? {} };
      expect((await second('POST', `${payout}/check-destination`, compared)).statusCode).toBe(200);
      const path = `${payout}/${decision}`;
      const body = { reason: 'Not one of our accounts.' };
      expect((await second('POST', path, decision === 'refuse' ? { body } : {})).statusCode).toBe(200);
      expect((await post('payouts', wanted)).statusCode).toBe(decision === 'refuse' ? 409 : 200);
      await call('GET', `/api/v1/payouts/${asked.body.token}/events`);
    }
    await tollgate(system, 'team', 'approval', 'demo', ...rule.slice(0, 4), '--none');
  });

  async function waitAndResolve(token: string): Promise<void> {
    const { code } = await eventually(
      async () => {
        const { body } = await call('GET', '/api/v1/reviews');
        const { reviews } = body as unknown as { reviews: { token: string; code: string }[] };
        const found = reviews.find((entry) => entry.token === token);
        if (found === undefined) throw new Error('no review is open yet');
        return found;
      },
      { timeoutMs: 30_000 },
    );
    const resolve = (resolution: string, of = code) =>
      post(`reviews/${token}/resolve`, {
        code: of,
        number: 1,
        resolution,
        reason: 'The Payment Service was inquired.',
      });
    expect((await resolve('payout_not_made')).statusCode).toBe(403);
    expect((await resolve('payment_not_made')).statusCode).toBe(409);
    expect((await resolve('keep_ours', 'payout_not_found')).statusCode).toBe(404);
    expect((await resolve('keep_ours')).statusCode).toBe(200);
  }

  it('of requests', async () => {
    const { headers } = await call('GET', '/api/v1/payments');
    await eventually(async () => {
      const found = await call('GET', `/api/v1/requests/${String(headers['request-id'])}`);
      expect(found.statusCode).toBe(200);
    });
    expect((await call('GET', '/api/v1/requests/req_none')).statusCode).toBe(404);
    expect((await call('GET', '/api/v1/requests?perPage=2')).statusCode).toBe(200);
    expect((await call('GET', '/api/v1/requests?status=9')).statusCode).toBe(400);
  });

  it('of events', async () => {
    await eventually(async () => {
      const { events } = (await call('GET', '/api/v1/events?perPage=5')).body as unknown as {
        events: unknown[];
      };
      expect(events).toHaveLength(5);
    });
    expect((await call('GET', '/api/v1/events?cursor=x')).statusCode).toBe(400);
  });

  it('of reconciliations', async () => {
    const { token } = await eventually(
      async () => {
        const { body } = await call('GET', '/api/v1/reconciliations');
        const [latest] = (body as unknown as { reconciliations: { token: string }[] }).reconciliations;
        if (latest === undefined) throw new Error('no reconciliation has ended yet');
        return latest;
      },
      { timeoutMs: 30_000 },
    );
    for (const path of [token, `${token}/differences.csv`])
      expect((await call('GET', `/api/v1/reconciliations/${path}`)).statusCode).toBe(200);
    expect((await call('GET', '/api/v1/reconciliations?cursor=x')).statusCode).toBe(400);
    expect((await call('GET', '/api/v1/reconciliations/rcn_none')).statusCode).toBe(404);
  });

  it('of callers without a key, of invalid bodies, and of too large reads', async () => {
    const stranger = documentedGateway(system.gatewayAs('none'), seen);
    for (const { method, path, scopes } of operations.filter((each) => each.scopes !== undefined)) {
      const url = path.replaceAll(/\{\w+\}/g, 'pay_none');
      const verb = method.toUpperCase() as Uppercase<typeof method>;
      expect((await stranger(verb, url)).statusCode, url).toBe(401);
      expect(scopes).not.toEqual([]);
    }
    const raw = (headers: Record<string, string>, body: string) =>
      call('POST', '/api/v1/payments', { headers, body: body as unknown as object });
    expect((await raw({ 'content-type': 'text/plain' }, 'x')).statusCode).toBe(415);
    expect((await post('payments', { product: 'x'.repeat(100_000) })).statusCode).toBe(413);
    const headers = { 'tollgate-min-position': 'x' };
    expect((await call('GET', '/api/v1/payments', { headers })).statusCode).toBe(400);
    const beyond = { 'tollgate-min-position': '9999999999999999' };
    expect((await call('GET', '/api/v1/payments', { headers: beyond })).statusCode).toBe(400);
    for (const path of ['/healthz', '/readyz', '/openapi.json']) await call('GET', path);
  });

  it('of operators', async () => {
    const ask = await asPerson('operator');
    const { body } = await ask('GET', '/api/v1/admin/payments?perPage=5');
    const { token } = body.payments[0] ?? { token: '' };
    const month = new Date().toISOString().slice(0, 7);
    for (const path of [`payments/${token}`, `payments/${token}/events`, `search?q=${token}`])
      expect((await ask('GET', `/api/v1/admin/${path}`)).statusCode, path).toBe(200);
    for (const path of [
      ...[
        'reviews',
        'overview',
        'teams',
        'accounts',
        'views',
        'webhooks',
        'outcomes',
        'security-log',
        'keys',
      ],
      ...['payments.csv', 'refunds', 'refunds.csv', 'disputes', 'disputes.csv', 'journal', 'journal.csv'],
      ...[`statements?month=${month}`, `statements.csv?month=${month}`, 'balances'],
    ])
      expect((await ask('GET', `/api/v1/admin/${path}`)).statusCode, path).toBe(200);
    expect((await ask('POST', `/api/v1/admin/payments/${token}/inquire`)).statusCode).toBe(200);
    const balance = 'accounts/sandbox/sandbox/balance?currency=EUR';
    expect((await ask('GET', `/api/v1/admin/${balance}`)).statusCode).toBe(200);
    expect((await ask('GET', '/api/v1/admin/me')).body).toMatchObject({ credential: expect.any(String) });
    const unknown = { credentialId: 'a'.repeat(24) };
    expect((await ask('POST', '/api/v1/admin/me/revoke', { body: unknown })).statusCode).toBe(404);
    const [payouts, reconciliations] = [
      (await ask('GET', '/api/v1/admin/payouts')).body.payouts,
      (await ask('GET', '/api/v1/admin/reconciliations')).body.reconciliations,
    ];
    const payout = `payouts/${payouts[0]?.token}`;
    for (const path of [payout, `${payout}/events`, `reconciliations/${reconciliations[0]?.token}`])
      expect((await ask('GET', `/api/v1/admin/${path}`)).statusCode, path).toBe(200);
    for (const [path, sent] of Object.entries({
      views: { name: 'mine', query: 'team=demo' },
      'views/remove': { name: 'mine' },
      reconciliations: { environment: 'sandbox', account: 'sandbox', day: '2026-01-02', isDryRun: true },
    }))
      expect((await ask('POST', `/api/v1/admin/${path}`, { body: sent })).statusCode, path).toBe(200);
    const within = { 'tollgate-team': 'demo', 'tollgate-environment': 'sandbox' };
    expect((await ask('GET', `/api/v1/payments/${token}`, { headers: within })).statusCode).toBe(200);
    expect((await ask('GET', `/api/v1/payments/${token}`)).statusCode).toBe(403);
    const nobody = { ...within, 'tollgate-team': 'nobody' };
    expect((await ask('GET', `/api/v1/payments/${token}`, { headers: nobody })).statusCode).toBe(400);
    const { stdout } = await tollgateExit(system, 'audit', '--kind', 'operator');
    expect(stdout).toContain('/api/v1/admin/me/revoke');
  });

  it('of teams and keys, for a person allowed to change them', async () => {
    const ask = await asPerson('admin');
    expect((await ask('GET', '/api/v1/admin/teams/demo')).statusCode).toBe(200);
    const transfer = {
      environment: 'sandbox',
      account: 'sandbox',
      currency: 'EUR',
      amount: 1,
      from: 'team-demo',
      to: 'wallet-group',
      reason: 'The team joined the group.',
    };
    const moved = { body: transfer, headers: { 'idempotency-key': 'joined' } };
    expect((await ask('POST', '/api/v1/admin/transfers', moved)).statusCode).toBe(200);
    const keyId = '0123456789ab';
    for (const [path, sent] of Object.entries({
      teams: { team: 'kiosk' },
      keys: { team: 'kiosk', environment: 'sandbox', scopes: ['read'], keyId },
      [`keys/${keyId}/revoke`]: { team: 'kiosk' },
      'teams/kiosk/origins': { purpose: 'callback', origins: ['https://kiosk.example'] },
      'teams/kiosk/wallet': { wallet: { kind: 'shared', name: 'group' } },
      'teams/kiosk/approvals': { environment: 'sandbox', currency: 'EUR', above: 100 },
      'teams/kiosk/limits': {
        environment: 'sandbox',
        operation: 'payout',
        currency: 'EUR',
        perCall: null,
        perDay: 100,
      },
    })) {
      const { statusCode } = await ask('POST', `/api/v1/admin/${path}`, { body: sent });
      expect(statusCode, path).toBe(isSigning ? 200 : 409);
    }
  });

  it('of tokens and sessions, which are revoked in every service', async () => {
    const argv = ['operator', 'token', '--role'];
    const printed = await tollgate<{ token: string; id: string }>(system, ...argv, 'admin');
    const ask = documentedGateway(system.gatewayAs(printed.token), seen);
    const linkArgv = ['--as', 'bob', 'operator', 'link', '--role', 'viewer'];
    const { link } = await tollgate<{ link: string }>(system, ...linkArgv);
    const linked = new URL(link).searchParams.get('link') ?? '';
    const signIn = documentedGateway(system.gatewayAs(linked), seen);
    expect((await signIn('POST', '/api/v1/admin/sign-ins')).statusCode).toBe(200);
    const listed = await ask('GET', '/api/v1/admin/credentials?person=bob');
    expect(listed.body).toMatchObject({ count: 1, credentials: [{ kind: 'session' }] });
    const [session] = (listed.body as unknown as { credentials: { id: string }[] }).credentials;
    const body = { credentialId: session?.id };
    expect((await ask('POST', '/api/v1/admin/credentials/revoke', { body })).statusCode).toBe(200);
    const { id } = await tollgate<{ id: string }>(system, ...argv, 'viewer');
    const own = await ask('POST', '/api/v1/admin/me/revoke', { body: { credentialId: id } });
    expect(own.body).toMatchObject({ revoked: [{ id, kind: 'token' }] });
    expect((await tollgateExit(system, 'operator', 'list')).stdout).not.toContain(body.credentialId);
    expect((await tollgateExit(system, 'operator', 'revoke', printed.id)).exitCode).toBe(0);
    for (const path of ['teams', 'views', 'webhooks'])
      await eventually(async () => {
        const { statusCode } = await ask('GET', `/api/v1/admin/${path}`);
        expect(statusCode, path).toBe(401);
      });
  });

  it('of merchant accounts, for a person allowed to pause them', async () => {
    const ask = await asPerson('admin');
    for (const name of ['pause', 'drain', 'resume']) {
      const path = `/api/v1/admin/accounts/sandbox/sandbox/${name}`;
      expect((await ask('POST', path, { body: { reason: 'A spec.' } })).statusCode, name).toBe(200);
    }
    const { hasFile } = (await ask('GET', '/api/v1/admin/accounts')).body as unknown as { hasFile: boolean };
    // Only a single process has its sandbox account in no file.
    const reloaded = await ask('POST', '/api/v1/admin/accounts/reload');
    expect(reloaded.statusCode).toBe(hasFile ? 200 : 409);
  });

  it('of webhooks that were not delivered, for operators', async () => {
    const ask = await asPerson('support');
    const { body } = await call('POST', '/api/v1/webhook-endpoints', {
      body: { url: `${callbackUrl}/down`, events: ['payment.approved'] },
    });
    const { id } = (body as unknown as { endpoint: { id: string } }).endpoint;
    await call('POST', `/api/v1/webhook-endpoints/${id}/test`);
    const webhook = await eventually(async () => {
      const { webhooks } = (await ask('GET', '/api/v1/admin/webhooks?team=demo')).body as unknown as {
        webhooks: { id: string; endpoint?: string }[];
      };
      const found = webhooks.find(({ endpoint }) => endpoint === id);
      expect(found).toBeDefined();
      return found?.id ?? '';
    });
    expect((await ask('GET', '/api/v1/admin/webhook-endpoints')).statusCode).toBe(200);
    const replay = await ask('POST', '/api/v1/admin/webhooks/replay', { body: { id: webhook } });
    expect(replay.statusCode).toBe(202);
    const all = await ask('POST', '/api/v1/admin/webhooks/replay', { body: { team: 'demo' } });
    expect(all.statusCode).toBe(202);
    await call('DELETE', `/api/v1/webhook-endpoints/${id}`);
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
    await untilPhase(token, 'approved');
    await call('GET', '/api/v1/payments/pay_none');
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
    await post('payments', { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'not paid yet' });
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
      ] as const)
        expect(valueOf(text, name, labels), name).toBe(value);
      for (const [kind, state] of [
        ['payment', 'open'],
        ['payout', 'unresolved'],
      ] as const)
        expect(valueOf(text, 'tollgate_pending_inquiries', { kind, state })).toBeGreaterThan(0);
      expect(valueOf(text, 'tollgate_open_reviews', { kind: 'payout' })).toBeDefined();
      expect(valueOf(text, 'nodejs_eventloop_lag_seconds')).toBeDefined();
    });
  });

  it('contain no private label: no token, team, key, order number or address', async () => {
    const text = await system.metrics();
    const { apiKey, paymentServiceKey, callbackUrl: ours } = system.quickstart;
    const planted = ['demo', 'pay_', 'po_', 'ref_', 'rec_', 'order-1', 'measured', 'refunded', 'whk_', 'Tea'];
    const secrets = [apiKey, apiKey.split('_')[2] ?? '', paymentServiceKey, approvedCard, callbackUrl, ours];
    for (const canary of [...planted, ...secrets]) expect(text, canary).not.toContain(canary);
    expect(text).not.toMatch(/https?:|127\.0\.0\.1|\/nowhere/);
    // Every label has a few values that we define.
    expect((await scrape()).split('\n').length).toBeLessThan(5_000);
  });
});
