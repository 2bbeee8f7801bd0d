import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, type LogFields } from '@tollgate/service-kit';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { EventStore } from '@tollgate/event-store';
import { createTeamDirectory, type TeamDirectory } from './team-directory.ts';
import { appendTeamEvents, givenTeam, keyIssued, keyText, originsAllowed } from './testing/teams.ts';

async function startDirectory(store: EventStore, log = silentLog): Promise<TeamDirectory> {
  const directory = createTeamDirectory({ store, log });
  onTestFinished(() => directory.stop());
  await directory.start();
  return directory;
}

const refused = { kind: 'refused', code: 'incorrect_private_key' };

test('a key tells its team, environment and scopes', async () => {
  const store = await temporaryStore();
  const key = await givenTeam(store, {
    team: 'shop',
    keyId: 'k1',
    environment: 'production',
    scopes: ['read', 'refunds'],
    requestsPerSecondMax: 5,
  });
  const directory = await startDirectory(store);
  const caller = {
    team: 'shop',
    keyId: 'k1',
    environment: 'production',
    scopes: new Set(['read', 'refunds']),
    allowedOrigins: { callback: [], redirect: undefined },
    requestsPerSecondMax: 5,
  };
  for (const scheme of ['Bearer', 'bearer', 'BEARER'])
    expect(directory.authenticate(`${scheme} ${key}`)).toEqual({ kind: 'caller', caller });
});

test('a request without the header is told so', async () => {
  const directory = await startDirectory(await temporaryStore());
  for (const header of [undefined, ''])
    expect(directory.authenticate(header)).toEqual({ kind: 'refused', code: 'auth_header_not_found' });
});

test('an unknown key, a wrong secret, a wrong environment and no key at all look the same', async () => {
  const store = await temporaryStore();
  const given = { team: 'shop', keyId: 'k1' };
  const key = await givenTeam(store, given);
  const directory = await startDirectory(store);
  const headers = [
    `Bearer ${keyText(given, { keyId: 'k2' })}`,
    `Bearer ${keyText(given, { secret: 'wrong-secret-0123456789' })}`,
    `Bearer ${keyText(given, { environment: 'production' })}`,
    `Basic ${key}`,
    `Bearer ${key} ${key}`,
    `Bearer${key}`,
    'Bearer',
    key,
  ];
  for (const header of headers) expect(directory.authenticate(header), header).toEqual(refused);
});

test('keys of one id in two teams are told apart by their secrets', async () => {
  const store = await temporaryStore();
  const shop = await givenTeam(store, { team: 'shop', keyId: 'k1' });
  const issued = keyIssued({ team: 'games', keyId: 'k1' });
  const other = { ...issued, data: { ...issued.data, secretHash: 'a'.repeat(64) } } as typeof issued;
  await appendTeamEvents(store, 'games', [{ type: 'TeamAdded', data: { name: 'games' } }, other]);
  const directory = await startDirectory(store);
  expect(directory.authenticate(`Bearer ${shop}`)).toMatchObject({ caller: { team: 'shop' } });
  await appendTeamEvents(store, 'games', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
  await vi.waitFor(() =>
    expect(directory.authenticate(`Bearer ${shop}`)).toMatchObject({ caller: { team: 'shop' } }),
  );
});

test('a key that is issued or revoked while the directory runs counts within a second', async () => {
  const store = await temporaryStore();
  const directory = await startDirectory(store);
  const first = `Bearer ${await givenTeam(store, { team: 'shop', keyId: 'k1' })}`;
  const withinASecond = { timeout: 1_000, interval: 5 };
  await vi.waitFor(() => expect(directory.authenticate(first).kind).toBe('caller'), withinASecond);

  await appendTeamEvents(store, 'shop', [keyIssued({ team: 'shop', keyId: 'k2' })]);
  const second = `Bearer ${keyText({ team: 'shop', keyId: 'k2' })}`;
  await vi.waitFor(() => expect(directory.authenticate(second).kind).toBe('caller'), withinASecond);

  await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
  await vi.waitFor(() => expect(directory.authenticate(first)).toEqual(refused), withinASecond);
  expect(directory.authenticate(second).kind).toBe('caller');
});

const shopOrigin = 'https://shop.example';

test('a caller brings the origins of its team, as they are now', async () => {
  const store = await temporaryStore();
  const key = await givenTeam(store, { team: 'shop', keyId: 'k1' });
  const games = await givenTeam(store, { team: 'games', keyId: 'k2' });
  const directory = await startDirectory(store);
  const originsOf = (text: string) => {
    const authentication = directory.authenticate(`Bearer ${text}`);
    return authentication.kind === 'caller' ? authentication.caller.allowedOrigins : undefined;
  };
  await appendTeamEvents(store, 'shop', [
    originsAllowed('callback', shopOrigin),
    originsAllowed('redirect', shopOrigin, 'http://localhost:*'),
  ]);
  const redirect = [shopOrigin, 'http://localhost:*'];
  await vi.waitFor(() => expect(originsOf(key)).toEqual({ callback: [shopOrigin], redirect }));
  await appendTeamEvents(store, 'shop', [originsAllowed('callback'), originsAllowed('redirect')]);
  await vi.waitFor(() => expect(originsOf(key)).toEqual({ callback: [], redirect: [] }));
  expect(originsOf(games)).toEqual({ callback: [], redirect: undefined });
});

test('a webhook may go where the callbacks of its team are allowed now, and of a stranger nowhere', async () => {
  const store = await temporaryStore();
  await givenTeam(store, { team: 'shop', keyId: 'k1' });
  await appendTeamEvents(store, 'shop', [originsAllowed('callback', shopOrigin)]);
  const directory = await startDirectory(store);
  expect(directory.callbackOriginsOf('shop')).toEqual([shopOrigin]);
  for (const name of ['games', '', 'team-shop', '__proto__'])
    expect(directory.callbackOriginsOf(name)).toEqual([]);
  await appendTeamEvents(store, 'shop', [originsAllowed('callback')]);
  await vi.waitFor(() => expect(directory.callbackOriginsOf('shop')).toEqual([]));
});

test('a team whose record cannot be read may be notified nowhere', async () => {
  const store = await temporaryStore();
  await givenTeam(store, { team: 'shop', keyId: 'k1' });
  await appendTeamEvents(store, 'shop', [
    originsAllowed('callback', shopOrigin),
    { type: 'OriginsAllowed', data: { purpose: 'anything', origins: [] } } as never,
  ]);
  expect((await startDirectory(store)).callbackOriginsOf('shop')).toEqual([]);
});

test('a team whose record cannot be read has no keys, loudly; other teams are as before', async () => {
  const store = await temporaryStore();
  const shop = await givenTeam(store, { team: 'shop', keyId: 'k1' });
  const games = await givenTeam(store, { team: 'games', keyId: 'k2' });
  await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: {} } as never]);
  const errors: LogFields[] = [];
  const directory = await startDirectory(store, { ...silentLog, error: (fields) => errors.push(fields) });
  expect(directory.authenticate(`Bearer ${shop}`)).toEqual(refused);
  expect(directory.authenticate(`Bearer ${games}`).kind).toBe('caller');
  expect(errors).toMatchObject([{ stream: 'team-shop', revision: 2 }]);
});

test('a directory that hears of no more revocations lets nobody in', async () => {
  const store = await temporaryStore();
  const key = await givenTeam(store, { team: 'shop', keyId: 'k1' });
  const failing: EventStore = {
    ...store,
    async *subscribe(options) {
      for await (const item of store.subscribe(options)) {
        yield item;
        if (item.kind === 'caught-up') throw new Error('broken port');
      }
    },
  };
  await appendTeamEvents(store, 'shop', [originsAllowed('callback', shopOrigin)]);
  const directory = await startDirectory(failing);
  await vi.waitFor(() => expect(directory.authenticate(`Bearer ${key}`)).toEqual(refused));
  expect(directory.callbackOriginsOf('shop')).toEqual([]);
});
