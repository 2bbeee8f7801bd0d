import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { type Scope, createTeamDirectory, parseApiKey, createTeams } from '@tollgate/teams';

import { testTeamKeys, testVerifier } from '@tollgate/teams/testing';
import { type Secret, silentLog, systemIds, isAllowedOrigin } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, onTestFinished, test } from 'vitest';
import { demoKey, ensureDemoTeam } from './demo-team.ts';

const clock = createFakeClock();
const ids = systemIds;

const deps = { clock, ids, teamKeys: testTeamKeys };
const actor = { kind: 'person', name: 'anna', source: 'command-line' } as const;

const ensureAnd = (store: EventStore, known?: Secret) => ensureDemoTeam({ ...deps, store }, known);
async function ensure(store: EventStore, known?: Secret): Promise<Secret> {
  const key = await ensureAnd(store, known);
  if (key === undefined) throw new Error('the demo team was given no key');
  return key;
}
const teamsIn = (store: EventStore) => createTeams({ ...deps, store, actor });

async function callerOf(store: EventStore, key: Secret) {
  const directory = createTeamDirectory({ store, clock, verifier: testVerifier, log: silentLog });
  onTestFinished(() => directory.stop());
  await directory.start();
  const authentication = directory.authenticate(`Bearer ${key.reveal()}`);
  return authentication.kind === 'caller' ? authentication.caller : undefined;
}

const revoke = (store: EventStore, key: Secret) =>
  teamsIn(store).change('demo', () => [{ type: 'RevokeKey', keyId: parseApiKey(key.reveal())?.keyId ?? '' }]);

test('the demo team has all rights except cards, and is called back on this machine only', async () => {
  const store = await temporaryStore();
  const caller = await callerOf(store, await ensure(store));
  const scopes: Scope[] = ['admin', 'payments', 'payouts', 'read', 'refunds', 'stored-cards'];
  expect([...(caller?.scopes ?? [])].toSorted()).toEqual(scopes);
  const { callback = [], redirect } = caller?.allowedOrigins ?? {};
  expect(redirect).toBeUndefined();
  for (const url of ['http://127.0.0.1:4711/hook', 'http://localhost:8080/', 'http://[::1]:9/'])
    expect(isAllowedOrigin(url, callback), url).toBe(true);
  for (const url of ['https://shop.example/', 'http://10.0.0.7:80/', 'https://169.254.169.254/'])
    expect(isAllowedOrigin(url, callback), url).toBe(false);
});

test('a second start changes nothing and returns the same key', async () => {
  const store = await temporaryStore();
  const key = await ensure(store);
  const before = await teamsIn(store).find('demo');
  expect((await ensure(store, key)).reveal()).toBe(key.reveal());
  expect(await teamsIn(store).find('demo')).toEqual(before);
});

test('a known key is kept if the event store was deleted', async () => {
  const key = await ensure(await temporaryStore());
  expect((await ensure(await temporaryStore(), key)).reveal()).toBe(key.reveal());
});

test('a list of origins set by an operator stays, even an empty one', async () => {
  const store = await temporaryStore();
  const key = await ensure(store);
  await teamsIn(store).change('demo', () => [{ type: 'AllowOrigins', purpose: 'callback', origins: [] }]);
  await ensure(store, key);
  expect((await callerOf(store, key))?.allowedOrigins.callback).toEqual([]);
});

// A revoked key must not be issued again at the next start.
test('after a revocation no other key is issued, even with remains of the old one', async () => {
  const store = await temporaryStore();
  const key = await ensure(store);
  await revoke(store, key);
  for (const known of [key, undefined, key]) expect(await ensureAnd(store, known)).toBeUndefined();
  expect(await callerOf(store, key)).toBeUndefined();
  expect((await teamsIn(store).find('demo'))?.keys).toHaveLength(1);
});

test('of two keys, the active one stays valid', async () => {
  const store = await temporaryStore();
  const [lost, key] = [await ensure(store), await ensure(store)];
  await revoke(store, lost);
  expect((await ensure(store, key)).reveal()).toBe(key.reveal());
});

test('keys of another environment do not count', async () => {
  const store = await temporaryStore();
  const key = await ensure(store);
  for (const keyId of ['p1', 'p2'])
    await teamsIn(store).change('demo', () => [
      {
        type: 'IssueKey',
        keyId,
        environment: 'production',
        scopes: ['read'],
        at: clock.now(),
        secretHash: 'a'.repeat(64),
      },
    ]);
  await ensure(store);
  expect((await callerOf(store, key))?.team).toBe('demo');
});

test('if two keys were lost, both stay valid, and a third is left to a person', async () => {
  const store = await temporaryStore();
  const keys = [await ensure(store), await ensure(store)];
  expect(await ensureAnd(store)).toBeUndefined();
  const callers = await Promise.all(keys.map((key) => callerOf(store, key)));
  expect(callers.map((caller) => caller?.team)).toEqual(['demo', 'demo']);
});

// The key of an approver is limited apart: its revocation would not make room for another key.
test('a person is asked to revoke a key that takes payments, not that of an approver', async () => {
  const store = await temporaryStore();
  const config = { accountsFile: undefined };
  const dataDirectory = { readQuickstart: () => undefined };
  const parts = { ...deps, config, dataDirectory, store: async () => store, logOf: () => silentLog };
  const issued = { environment: 'sandbox', at: clock.now(), secretHash: 'a'.repeat(64) } as const;
  const issue = (keyId: string, scopes: Scope[]) =>
    teamsIn(store).change('demo', () => [{ type: 'IssueKey', keyId, scopes, ...issued }]);
  const first = await ensure(store);
  await issue('approver', ['approvals']);
  await ensure(store);
  expect(await demoKey(parts)).toEqual({ keyToRevoke: parseApiKey(first.reveal())?.keyId });
  await revoke(store, first);
  expect(await demoKey(parts)).toEqual({});
});
