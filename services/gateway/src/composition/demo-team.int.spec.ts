import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { isAllowedOrigin, type Scope, createTeamDirectory, parseApiKey, createTeams } from '@tollgate/teams';

import { type Secret, silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, onTestFinished, test } from 'vitest';
import { ensureDemoTeam } from './demo-team.ts';

const clock = createFakeClock();
const ids = systemIds;

const ensure = (store: EventStore, known?: Secret) => ensureDemoTeam({ store, clock, ids }, known);
const teamsIn = (store: EventStore) => createTeams({ store, clock, ids, actor: 'tollgate-cli' });

async function callerOf(store: EventStore, key: Secret) {
  const directory = createTeamDirectory({ store, log: silentLog });
  onTestFinished(() => directory.stop());
  await directory.start();
  const authentication = directory.authenticate(`Bearer ${key.reveal()}`);
  return authentication.kind === 'caller' ? authentication.caller : undefined;
}

const revoke = (store: EventStore, key: Secret) =>
  teamsIn(store).change('demo', () => [{ type: 'RevokeKey', keyId: parseApiKey(key.reveal())?.keyId ?? '' }]);

test('the demo team may do everything but take cards, and is called back on this machine only', async () => {
  const store = await temporaryStore();
  const caller = await callerOf(store, await ensure(store));
  const scopes: Scope[] = ['admin', 'payments', 'payouts', 'read', 'refunds'];
  expect([...(caller?.scopes ?? [])].toSorted()).toEqual(scopes);
  const { callback = [], redirect } = caller?.allowedOrigins ?? {};
  expect(redirect).toBeUndefined();
  for (const url of ['http://127.0.0.1:4711/hook', 'http://localhost:8080/', 'http://[::1]:9/'])
    expect(isAllowedOrigin(url, callback), url).toBe(true);
  for (const url of ['https://shop.example/', 'http://10.0.0.7:80/', 'https://169.254.169.254/'])
    expect(isAllowedOrigin(url, callback), url).toBe(false);
});

test('a second start changes nothing and gives the same key', async () => {
  const store = await temporaryStore();
  const key = await ensure(store);
  const before = await teamsIn(store).find('demo');
  expect((await ensure(store, key)).reveal()).toBe(key.reveal());
  expect(await teamsIn(store).find('demo')).toEqual(before);
});

test('a known key is kept where the event store was thrown away', async () => {
  const key = await ensure(await temporaryStore());
  expect((await ensure(await temporaryStore(), key)).reveal()).toBe(key.reveal());
});

test('origins that somebody has set stay, even none', async () => {
  const store = await temporaryStore();
  const key = await ensure(store);
  await teamsIn(store).change('demo', () => [{ type: 'AllowOrigins', purpose: 'callback', origins: [] }]);
  await ensure(store, key);
  expect((await callerOf(store, key))?.allowedOrigins.callback).toEqual([]);
});

test('a key that somebody has revoked stays so, and another takes its place', async () => {
  const store = await temporaryStore();
  const key = await ensure(store);
  await revoke(store, key);
  const next = await ensure(store, key);
  expect(next.reveal()).not.toBe(key.reveal());
  expect(await callerOf(store, key)).toBeUndefined();
  expect((await callerOf(store, next))?.team).toBe('demo');
});

test('where keys were lost twice, a third takes the place of the oldest', async () => {
  const store = await temporaryStore();
  const keys = [await ensure(store), await ensure(store), await ensure(store)];
  const callers = await Promise.all(keys.map((key) => callerOf(store, key)));
  expect(callers.map((caller) => caller?.team)).toEqual([undefined, 'demo', 'demo']);
});
