import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, type LogFields } from '@tollgate/service-kit';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { teamStream } from './team.ts';
import { beginning, type EventStore } from '@tollgate/event-store';
import { createTeamDirectory, type TeamDirectory } from './team-directory.ts';
import { createFakeClock, eventually } from '@tollgate/testing';
import {
  appendTeamEvents,
  givenTeam,
  keyIssued,
  keyText,
  originsAllowed,
  testVerifier,
} from './testing/teams.ts';

const clock = createFakeClock();
let store: EventStore;
beforeEach(async () => {
  store = await temporaryStore();
});

async function startDirectory(store: EventStore, log = silentLog): Promise<TeamDirectory> {
  const directory = createTeamDirectory({ store, clock, verifier: testVerifier, log });
  onTestFinished(() => directory.stop());
  await directory.start();
  return directory;
}

const refused = { kind: 'refused', code: 'incorrect_private_key', keyId: 'k1' };

test('a key identifies its team, environment and scopes', async () => {
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
    wallet: { kind: 'own' },
    requestsPerSecondMax: 5,
  };
  for (const scheme of ['Bearer', 'bearer', 'BEARER'])
    expect(directory.authenticate(`${scheme} ${key}`)).toEqual({ kind: 'caller', caller });
});

test('a request without the header is refused with that reason', async () => {
  const directory = await startDirectory(await temporaryStore());
  for (const header of [undefined, ''])
    expect(directory.authenticate(header)).toEqual({ kind: 'refused', code: 'auth_header_not_found' });
});

test('an unknown key, a wrong secret, a wrong environment and no key at all get the same answer', async () => {
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
  for (const header of headers)
    expect(directory.authenticate(header), header).toMatchObject({
      kind: 'refused',
      code: 'incorrect_private_key',
    });
});

test('keys of one id in two teams are distinguished by their secrets', async () => {
  const shop = await givenTeam(store, { team: 'shop', keyId: 'k1' });
  const issued = keyIssued({ team: 'games', keyId: 'k1' });
  const other = { ...issued, data: { ...issued.data, secretHash: 'a'.repeat(64) } } as typeof issued;
  await appendTeamEvents(store, 'games', [{ type: 'TeamAdded', data: { name: 'games' } }, other]);
  const directory = await startDirectory(store);
  expect(directory.authenticate(`Bearer ${shop}`)).toMatchObject({ caller: { team: 'shop' } });
  await appendTeamEvents(store, 'games', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
  await eventually(() =>
    expect(directory.authenticate(`Bearer ${shop}`)).toMatchObject({ caller: { team: 'shop' } }),
  );
});

test('a key issued or revoked at run time takes effect without a restart', async () => {
  const directory = await startDirectory(store);
  const first = `Bearer ${await givenTeam(store, { team: 'shop', keyId: 'k1' })}`;
  await eventually(() => expect(directory.authenticate(first).kind).toBe('caller'));

  await appendTeamEvents(store, 'shop', [keyIssued({ team: 'shop', keyId: 'k2' })]);
  const second = `Bearer ${keyText({ team: 'shop', keyId: 'k2' })}`;
  await eventually(() => expect(directory.authenticate(second).kind).toBe('caller'));

  await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
  await eventually(() => expect(directory.authenticate(first)).toEqual(refused));
  expect(directory.authenticate(second).kind).toBe('caller');
});

const shopOrigin = 'https://shop.example';

test('a caller carries the current origins of its team', async () => {
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
  await eventually(() => expect(originsOf(key)).toEqual({ callback: [shopOrigin], redirect }));
  await appendTeamEvents(store, 'shop', [originsAllowed('callback'), originsAllowed('redirect')]);
  await eventually(() => expect(originsOf(key)).toEqual({ callback: [], redirect: [] }));
  expect(originsOf(games)).toEqual({ callback: [], redirect: undefined });
});

test('a webhook may go to the current callback origins of its team, and of an unknown team nowhere', async () => {
  await givenTeam(store, { team: 'shop', keyId: 'k1' });
  await appendTeamEvents(store, 'shop', [originsAllowed('callback', shopOrigin)]);
  const directory = await startDirectory(store);
  expect(directory.callbackOriginsOf('shop')).toEqual([shopOrigin]);
  for (const name of ['games', '', 'team-shop', '__proto__'])
    expect(directory.callbackOriginsOf(name)).toEqual([]);
  await appendTeamEvents(store, 'shop', [originsAllowed('callback')]);
  await eventually(() => expect(directory.callbackOriginsOf('shop')).toEqual([]));
});

test('a team whose record cannot be read has no keys and receives no webhooks, with an error log; other teams are unaffected', async () => {
  const shop = await givenTeam(store, { team: 'shop', keyId: 'k1' });
  const games = await givenTeam(store, { team: 'games', keyId: 'k2' });
  await appendTeamEvents(store, 'shop', [
    originsAllowed('callback', shopOrigin),
    { type: 'KeyRevoked', data: {} } as never,
  ]);
  const errors: LogFields[] = [];
  const directory = await startDirectory(store, { ...silentLog, error: (fields) => errors.push(fields) });
  expect(directory.authenticate(`Bearer ${shop}`)).toEqual(refused);
  expect(directory.callbackOriginsOf('shop')).toEqual([]);
  expect(directory.authenticate(`Bearer ${games}`).kind).toBe('caller');
  expect(errors).toMatchObject([{ stream: 'team-shop', revision: 3 }]);
});

test('a directory without revocations rejects every caller', async () => {
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
  await eventually(() => expect(directory.authenticate(`Bearer ${key}`)).toEqual(refused));
  expect(directory.callbackOriginsOf('shop')).toEqual([]);
});

describe('an event that is not signed', () => {
  const bare = (type: string, data: object, metadata: object = {}) => ({
    id: randomUUID(),
    type,
    data,
    metadata,
  });

  // One row inserted into team-demo was a production key with all scopes.
  test('issues no key, revokes none, and is reported', async () => {
    const key = await givenTeam(store, { team: 'shop', keyId: 'k1' });
    const forged = keyIssued({ team: 'shop', keyId: 'k9', environment: 'production' });
    await store.append(
      teamStream('shop'),
      [
        bare('KeyIssued', forged.data),
        bare('KeyRevoked', { keyId: 'k1' }),
        bare('Nonsense', {}, { signature: { kid: 'x', value: 'y' } }),
      ],
      'any',
    );
    const errors: LogFields[] = [];
    const directory = await startDirectory(store, { ...silentLog, error: (fields) => errors.push(fields) });
    const forgedText = keyText({ team: 'shop', keyId: 'k9', environment: 'production' });
    expect(directory.authenticate(`Bearer ${forgedText}`).kind).toBe('refused');
    expect(directory.authenticate(`Bearer ${key}`).kind).toBe('caller');
    expect(directory.health()).toEqual({ unsignedEvents: 3, suspectStreams: ['team-shop'] });
    expect(errors).toMatchObject([{ stream: 'team-shop', revision: 2, count: 1 }]);
  });

  test('does not block the next change, which is signed for its place', async () => {
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
    await store.append(teamStream('shop'), [bare('KeyRevoked', { keyId: 'k1' })], 'any');
    await appendTeamEvents(store, 'shop', [keyIssued({ team: 'shop', keyId: 'k2' })]);
    const directory = await startDirectory(store);
    for (const keyId of ['k1', 'k2'])
      expect(directory.authenticate(`Bearer ${keyText({ team: 'shop', keyId })}`).kind).toBe('caller');
  });

  test('creates no team', async () => {
    await store.append(teamStream('eve'), [bare('TeamAdded', { name: 'eve' })], 'any');
    expect((await startDirectory(store)).names()).toEqual([]);
  });

  test('is also a signed one in another stream, or a second time in its own', async () => {
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
    await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
    const [added, issued] = await Array.fromAsync(store.read(teamStream('shop')));
    const again = (event = added) => ({
      ...bare(event!.type, event!.data as object),
      metadata: event!.metadata,
    });
    await store.append(teamStream('eve'), [again(), again(issued)], 'any');
    await store.append(teamStream('shop'), [{ ...again(issued), id: issued!.id }], 'any');
    const directory = await startDirectory(store);
    expect(directory.authenticate(`Bearer ${keyText({ team: 'shop', keyId: 'k1' })}`).kind).toBe('refused');
    expect(directory.names()).toEqual(['shop']);
    expect(directory.health()).toEqual({ unsignedEvents: 3, suspectStreams: ['team-eve', 'team-shop'] });
  });
});

// The row of a revocation was removed: the revoked key would be valid again.
test('a team with a missing signed event has no keys', async () => {
  await givenTeam(store, { team: 'shop', keyId: 'k1' });
  await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
  await appendTeamEvents(store, 'shop', [keyIssued({ team: 'shop', keyId: 'k2' })]);
  const without: EventStore = {
    ...store,
    async *subscribe(options) {
      for await (const item of store.subscribe(options))
        if (item.kind === 'caught-up' || item.type !== 'KeyRevoked') yield item;
    },
  };
  const directory = await startDirectory(without);
  for (const keyId of ['k1', 'k2'])
    expect(directory.authenticate(`Bearer ${keyText({ team: 'shop', keyId })}`).kind).toBe('refused');
  expect(directory.health().suspectStreams).toEqual(['team-shop']);
});

describe('the terms of a key', () => {
  const given = { team: 'shop', keyId: 'k1', networks: ['10.20.0.0/16'], expiresAt: clock.now() + 1_000 };
  const wrong = `Bearer ${keyText(given, { secret: 'wrong-secret-0123456789' })}`;

  test('bind it to its networks, which only a caller with the secret learns', async () => {
    const header = `Bearer ${await givenTeam(store, given)}`;
    const directory = await startDirectory(store);
    for (const address of ['10.20.1.1', '::ffff:10.20.1.1'])
      expect(directory.authenticate(header, address).kind, address).toBe('caller');
    const elsewhere = {
      kind: 'refused',
      code: 'network_not_allowed',
      keyId: 'k1',
      team: 'shop',
      environment: 'sandbox',
    };
    for (const address of ['10.21.1.1', '::1', '', undefined])
      expect(directory.authenticate(header, address), address).toEqual(elsewhere);
    expect(directory.authenticate(wrong, '10.21.1.1')).toEqual(refused);
  });

  test('expire it, which only a caller with the secret learns', async () => {
    const header = `Bearer ${await givenTeam(store, given)}`;
    const later = createFakeClock();
    const directory = createTeamDirectory({ store, clock: later, verifier: testVerifier, log: silentLog });
    onTestFinished(() => directory.stop());
    await directory.start();
    await later.advance(999);
    expect(directory.authenticate(header, '10.20.1.1').kind).toBe('caller');
    await later.advance(1);
    const ended = {
      kind: 'refused',
      code: 'api_key_expired',
      keyId: 'k1',
      team: 'shop',
      environment: 'sandbox',
    };
    for (const address of ['10.20.1.1', '192.0.2.1'])
      expect(directory.authenticate(header, address)).toEqual(ended);
    expect(directory.authenticate(wrong, '10.20.1.1')).toEqual(refused);
  });
});

describe('a directory whose subscription has delivered nothing yet', () => {
  /** The subscription of the directory stops once it has caught up. */
  function standingStill(store: EventStore): EventStore {
    let count = 0;
    return {
      ...store,
      async *subscribe(options) {
        const isFirst = (count += 1) === 1;
        for await (const item of store.subscribe(options)) {
          yield item;
          if (isFirst && item.kind === 'caught-up')
            await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
        }
      },
    };
  }

  test('knows a key that was issued before the request to catch up', async () => {
    const directory = await startDirectory(standingStill(store));
    const keys = ['k1', 'k2', 'k3'];
    for (const keyId of keys) {
      const authorization = `Bearer ${await givenTeam(store, { team: `shop-${keyId}`, keyId })}`;
      expect(directory.authenticate(authorization)).toMatchObject({ code: 'incorrect_private_key' });
      await Promise.all([directory.catchUp(), directory.catchUp()]);
      expect(directory.authenticate(authorization)).toMatchObject({ kind: 'caller' });
    }
  });

  // With years of payments since the last change of a team, each unknown key read all of them.
  test('continues reading at the end of the previous read', async () => {
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
    const payment = { type: 'PaymentRequested', data: {}, metadata: {} };
    for (let number = 0; number < 20; number += 1)
      await store.append(`payment-pay_${number}`, [{ ...payment, id: randomUUID() }], 'no-stream');
    const from: string[] = [];
    const directory = await startDirectory({
      ...store,
      subscribe: (options) => {
        from.push(options.from);
        return store.subscribe(options);
      },
    });
    await directory.catchUp();
    await directory.catchUp();
    const [last] = await Array.fromAsync(store.read('payment-pay_19'));
    expect(from).toEqual([beginning, last?.position, last?.position]);
  });

  test('gives up after a second if the store does not answer', async () => {
    let count = 0;
    const silent: EventStore = {
      ...store,
      async *subscribe({ from, signal }) {
        if ((count += 1) === 1) yield { kind: 'caught-up', position: from };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    };
    const directory = await startDirectory(silent);
    const caughtUp = directory.catchUp();
    await eventually(() => expect(clock.sleeperCount()).toBe(1));
    await clock.advance(1_000);
    await caughtUp;
  });
});
