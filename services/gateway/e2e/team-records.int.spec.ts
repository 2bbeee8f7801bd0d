/**
 * An attacker who can write to the event store, without the key that team events are signed with. One row inserted into
 * team-demo was a production key with all scopes.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { formatApiKey, hashApiKeySecret, scopes } from '@tollgate/teams';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventFiles } from './arrangement.ts';
import { issueKey, tollgate } from './commands.ts';
import { type System, startSystem, stopEverything } from './system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 60_000);
afterAll(stopEverything);

/** Inserts a row, as any program on the machine can. */
function insert(type: string, data: object, metadata: object = {}): void {
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

const degradedOf = async () => {
  const { body } = await system.gateway('GET', '/readyz');
  return (body as unknown as { degraded: string[] }).degraded;
};

describe.skipIf(eventFiles.length === 0)('a row that somebody has inserted', { timeout: 60_000 }, () => {
  const secret = 'inserted-secret-0123456789';
  const forged = formatApiKey({ environment: 'sandbox', keyId: 'inserted', secret });
  const actor = { kind: 'service', name: 'tollgate-cli' };

  it('makes nobody a key, takes nobody a key, and is reported', async () => {
    const data = { keyId: 'inserted', environment: 'sandbox', scopes, secretHash: hashApiKeySecret(secret) };
    insert('KeyIssued', data, { schemaVersion: 1, actor, recordedAt: Date.now() });
    const keyId = system.quickstart.apiKey.split('_')[2];
    insert('KeyRevoked', { keyId }, { signature: { kid: '0'.repeat(16), value: 'AAAA' } });
    await eventually(async () => expect(await degradedOf()).toContain('team-records'));
    expect((await system.gatewayAs(forged)('GET', '/api/v1/payments')).statusCode).toBe(401);
    expect((await system.gateway('GET', '/api/v1/payments')).statusCode).toBe(200);
    expect(await system.metrics()).toMatch(/^tollgate_unsigned_team_events 2$/m);
    expect(system.output()).not.toContain(secret);
  });

  it('is in the way of no change of the team, and counts as little after a restart', async () => {
    const issued = await issueKey(system, 'demo', 'read');
    await eventually(async () => {
      expect((await system.gatewayAs(issued)('GET', '/api/v1/payments')).statusCode).toBe(200);
    });
    const shown = await tollgate<{ keyId: string }[]>(system, 'key', 'list', 'demo');
    expect(shown.map(({ keyId }) => keyId)).not.toContain('inserted');
    await system.terminate();
    system = await system.restart();
    expect((await system.gatewayAs(forged)('GET', '/api/v1/payments')).statusCode).toBe(401);
    expect((await system.gatewayAs(issued)('GET', '/api/v1/payments')).statusCode).toBe(200);
    expect((await system.gateway('GET', '/api/v1/payments')).statusCode).toBe(200);
  });
});
