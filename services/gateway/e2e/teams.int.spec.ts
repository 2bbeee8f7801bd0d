/** Team management by an operator: the command line in its own process, with a running gateway; and attacks. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { formatApiKey, hashApiKeySecret, scopes } from '@tollgate/teams';
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventFiles } from './arrangement.ts';
import { tollgate } from './commands.ts';
import { type System, startSystem, stopEverything } from './system.ts';

/** Maximum time from the end of the command until every instance applies it. */
const withinASecond = { timeoutMs: 1_000, intervalMs: 5 };

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 60_000);
afterAll(stopEverything);

const issueKey = (team: string, scopes = 'payments,read') =>
  tollgate<{ key: string; keyId: string }>(
    system,
    ...['key', 'issue', team, '--environment', 'sandbox', '--scopes', scopes],
  );

async function statusWith(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const { statusCode, body } = await request(`${system.quickstart.gatewayUrl}/api/v1/payments`, { headers });
  await body.dump();
  return statusCode;
}

const counts = async (key: string) => expect(await statusWith(key)).toBe(200);
const refuses = async (key: string) => expect(await statusWith(key)).toBe(401);

let tries = 0;

describe('a key that the command line', { timeout: 60_000 }, () => {
  // The documented second assumes a spare core, so the request is repeated.
  it(
    'issues or revokes counts, or does not, in a running gateway within a second',
    { retry: 2 },
    async () => {
      const team = `shop-${(tries += 1)}`;
      await tollgate(system, 'team', 'add', team);
      const first = await issueKey(team);
      await eventually(() => counts(first.key), withinASecond);

      // Rotation: the next key is valid before the old one is revoked, and after.
      const second = await issueKey(team);
      await eventually(() => counts(second.key), withinASecond);
      await counts(first.key);
      await tollgate(system, 'key', 'revoke', team, first.keyId);
      await eventually(() => refuses(first.key), withinASecond);
      await counts(second.key);
      const keys = await tollgate<{ active: boolean }[]>(system, 'key', 'list', team);
      expect(keys.map(({ active }) => active)).toEqual([false, true]);
    },
  );
});

interface Entry {
  actor: { name?: string; team?: string };
  data: Record<string, unknown>;
}

// Refused requests and exports must be traceable.
it('the security log has refused requests without their secrets, exports and changes of teams', async () => {
  const audit = (...argv: string[]) => tollgate<Entry[]>(system, 'audit', ...argv);
  for (let count = 0; count < 50; count += 1)
    await refuses(`tg_sandbox_0a1b2c3d4e5f_${'guessed-'.repeat(4)}`);
  const refused = await eventually(async () => {
    const found = await audit('--kind', 'access');
    const [first] = found.filter(({ data }) => data['keyIdPrefix'] === '0a1b2c3d');
    expect(first).toBeDefined();
    return first;
  });
  expect(refused?.data).toMatchObject({
    code: 'incorrect_private_key',
    address: '127.0.0.1',
    route: '/api/v1/payments',
    requestId: expect.stringMatching(/^req_/),
    count: 1,
  });
  expect(await system.metrics()).toMatch(
    /tollgate_refused_requests_total\{code="incorrect_private_key"\} \d/,
  );
  expect(system.output()).not.toContain('guessed-guessed');
  expect((await system.gateway('GET', '/api/v1/payments.csv')).statusCode).toBe(200);
  expect(await audit('--kind', 'export')).toMatchObject([{ actor: { team: 'demo' }, data: { count: 1 } }]);
  await tollgate(system, 'team', 'add', 'logged', '--as', 'anna@shop.example');
  expect(await audit('--kind', 'team', '--team', 'logged')).toMatchObject([
    { actor: { name: 'anna@shop.example' }, data: { change: 'TeamAdded' } },
  ]);
  expect(await tollgate(system, 'audit', 'verify')).toMatchObject({ faults: [] });
  await eventually(async () => {
    const [key] = await tollgate<{ lastUsedAt: string | null }[]>(system, 'key', 'list', 'demo');
    expect(key?.lastUsedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00Z$/);
  });
}, 60_000);

/** Inserts an event of the demo team, as any program on the machine can. */
function insert(type: string, data: object, metadata: object): void {
  using database = new DatabaseSync(join(system.dataDir, 'events.db'), { timeout: 10_000 });
  const stream = database.prepare("SELECT id, last_revision FROM streams WHERE name = 'team-demo'").get();
  const revision = Number(stream?.['last_revision']) + 1;
  const id = Number(stream?.['id']);
  database.exec('BEGIN IMMEDIATE');
  database
    .prepare(
      'INSERT INTO events (stream_id, revision, event_id, type, recorded_at, metadata, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    .run(id, revision, randomUUID(), type, Date.now(), JSON.stringify(metadata), JSON.stringify(data));
  database.prepare('UPDATE streams SET last_revision = ? WHERE id = ?').run(revision, id);
  database.exec('COMMIT');
}

// One row inserted into team-demo must not create a production key.
it.skipIf(eventFiles.length === 0)(
  'an unsigned event issues and revokes no key, and is reported',
  async () => {
    const secret = 'inserted-secret-0123456789';
    const forged = formatApiKey({ environment: 'sandbox', keyId: 'inserted', secret });
    const actor = { kind: 'service', name: 'tollgate-cli' };
    const data = { keyId: 'inserted', environment: 'sandbox', scopes, secretHash: hashApiKeySecret(secret) };
    insert('KeyIssued', data, { schemaVersion: 1, actor, recordedAt: Date.now() });
    const keyId = system.quickstart.apiKey.split('_')[2];
    insert('KeyRevoked', { keyId }, { signature: { kid: '0'.repeat(16), value: 'AAAA' } });
    await eventually(async () => {
      const { body } = await system.gateway('GET', '/readyz');
      expect(body).toMatchObject({ degraded: expect.arrayContaining(['team-records']) });
    });
    expect(await system.metrics()).toMatch(/^tollgate_unsigned_team_events 2$/m);
    await refuses(forged);
    await counts(system.quickstart.apiKey);
    expect(system.output()).not.toContain(secret);
  },
  60_000,
);
