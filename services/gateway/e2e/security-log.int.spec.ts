/**
 * What an operator learns afterwards. Hundreds of refused requests and several exports left no line anywhere, and the
 * demo key that somebody had revoked was issued again at the next start.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey, tollgate, tollgateExit } from './commands.ts';
import { type System, startSystem, stopEverything } from './system.ts';

interface Entry {
  type: string;
  actor: { name?: string; team?: string };
  data: Record<string, unknown>;
}

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 60_000);
afterAll(stopEverything);

const audit = (...argv: string[]) => tollgate<Entry[]>(system, 'audit', ...argv);
const readPayments = (key: string, headers?: Record<string, string>) =>
  system.gatewayAs(key)('GET', '/api/v1/payments', headers === undefined ? {} : { headers });

describe('the security log', { timeout: 60_000 }, () => {
  it('tells of keys that somebody tries, in few entries and without a secret', async () => {
    const guessed = `tg_sandbox_0a1b2c3d4e5f_${'guessed-'.repeat(4)}`;
    for (let count = 0; count < 50; count += 1)
      expect((await readPayments(guessed, { 'x-request-id': 'try-1' })).statusCode).toBe(401);
    const [entry] = await eventually(async () => {
      const found = await audit('--kind', 'access');
      expect(found.length).toBeGreaterThan(0);
      return found;
    });
    expect(entry?.data).toMatchObject({
      ...{ code: 'incorrect_private_key', address: '127.0.0.1', keyIdPrefix: '0a1b2c3d' },
      ...{ method: 'GET', route: '/api/v1/payments', requestId: expect.stringMatching(/^req_/), count: 1 },
    });
    expect(await system.metrics()).toMatch(
      /tollgate_refused_requests_total\{code="incorrect_private_key"\} \d/,
    );
    expect(system.output()).toContain('requests were not let in');
    expect(system.output()).not.toContain('guessed-guessed');
  });

  it('tells of scopes that a key has not, and of expired keys and other networks, by team', async () => {
    await tollgate(system, 'team', 'add', 'shop', '--as', 'anna@shop.example');
    const reader = await issueKey(system, 'shop', 'read');
    const argv = ['key', 'issue', 'shop', '--environment', 'sandbox', '--scopes', 'read'];
    const { key } = await tollgate<{ key: string }>(system, ...argv, '--networks', '203.0.113.0/24');
    await eventually(async () => expect((await readPayments(reader)).statusCode).toBe(200));
    const elsewhere = await eventually(async () => {
      const answer = await readPayments(key, { 'x-forwarded-for': '203.0.113.7' });
      expect(answer.statusCode).toBe(403);
      return answer;
    });
    expect(elsewhere.body.errors[0]?.code).toBe('network_not_allowed');
    const refund = await system.gatewayAs(reader)('POST', '/api/v1/refunds', { body: {} });
    expect(refund.body.errors[0]?.code).toBe('scope_missing');
    await eventually(async () => {
      const codes = (await audit('--kind', 'access', '--team', 'shop')).map(({ data }) => data['code']);
      expect(codes).toEqual(expect.arrayContaining(['network_not_allowed', 'scope_missing']));
    });
  });

  it('tells who exported, who changed a team, and is whole', async () => {
    expect((await system.gateway('GET', '/api/v1/payments.csv')).statusCode).toBe(200);
    expect(await audit('--kind', 'export')).toMatchObject([{ actor: { team: 'demo' }, data: { count: 1 } }]);
    const changes = await audit('--kind', 'team', '--team', 'shop');
    expect(changes[0]).toMatchObject({ actor: { name: 'anna@shop.example' }, data: { change: 'TeamAdded' } });
    expect(changes[1]?.actor.name).toMatch(/^os:.+@.+$/);
    const { head, faults } = await tollgate<{ head: { hash: string }; faults: string[] }>(
      system,
      'audit',
      'verify',
    );
    expect(faults).toEqual([]);
    const verified = await tollgateExit(system, 'audit', 'verify', '--head', head.hash);
    expect(verified.exitCode).toBe(0);
  });

  it('beside it, the list of keys tells when each was last used', async () => {
    await eventually(async () => {
      const keys = await tollgate<{ lastUsedAt: string | null }[]>(system, 'key', 'list', 'demo');
      expect(keys[0]?.lastUsedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00Z$/);
    });
  });
});

it(
  'a demo key that somebody has revoked stays so, and no other takes its place',
  { timeout: 90_000 },
  async () => {
    const { apiKey } = system.quickstart;
    await tollgate(system, 'key', 'revoke', 'demo', apiKey);
    await eventually(async () => expect((await readPayments(apiKey)).statusCode).toBe(401));
    await system.terminate();
    // The specs' own helper then issues one, as the banner says.
    const again = await system.restart();
    expect(again.output()).toContain('The key of the demo team was revoked');
    expect((await again.gatewayAs(apiKey)('GET', '/api/v1/payments')).statusCode).toBe(401);
    expect(again.quickstart.apiKey).not.toBe(apiKey);
    expect((await again.gateway('GET', '/api/v1/payments')).statusCode).toBe(200);
  },
);
