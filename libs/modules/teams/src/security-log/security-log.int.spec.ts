import { DatabaseSync } from 'node:sqlite';
import { type EventStore, StoreUnavailable, createEmbeddedEventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { appendTeamEvents, givenTeam, keyIssued, testVerifier } from '../testing/teams.ts';
import { readAudit, verifyAudit } from './audit.ts';
import { checkChain } from './chain.ts';
import { securityLogStream } from './entries.ts';
import { createSecurityLog } from './security-log.ts';
import { recordTeamChanges } from './team-changes.ts';

const actor = { kind: 'person', name: 'anna', source: 'command-line' } as const;
const acted = (command: string) => ({
  event: { type: 'OperatorActed', data: { command, detail: {} } } as const,
  actor,
});

const logOn = (store: EventStore) =>
  createSecurityLog({ store, clock: systemClock, ids: systemIds, log: silentLog });
const catchUp = (store: EventStore) =>
  recordTeamChanges({ store, securityLog: logOn(store), verifier: testVerifier });
const everything = { since: 0, limit: 10_000 };
const verify = (store: EventStore, noted?: string) => verifyAudit({ store, verifier: testVerifier }, noted);

describe('several concurrent writers', () => {
  test('lose nothing, and produce one chain', async () => {
    const store = await temporaryStore();
    const logs = Array.from({ length: 4 }, () => logOn(store));
    const names = Array.from({ length: 40 }, (_, number) => `command ${number}`);
    await Promise.all(
      names.map((name, number) => logs[number % 4]!.record([acted(name), acted(`${name} too`)])),
    );
    const commands = (await readAudit(store, everything)).map(({ data }) => data['command']);
    expect(commands.toSorted()).toEqual(names.flatMap((name) => [name, `${name} too`]).toSorted());
    const { head, fault } = await checkChain(store.read(securityLogStream));
    expect([head?.revision, fault]).toEqual([79, undefined]);
  });

  test('copy each change of a team once, in order', async () => {
    const store = await temporaryStore();
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
    await givenTeam(store, { team: 'games', keyId: 'k1' });
    await Promise.all([
      catchUp(store),
      catchUp(store),
      catchUp(store),
      logOn(store).record([acted('rebuild')]),
    ]);
    await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
    await Promise.all([catchUp(store), catchUp(store)]);
    const changes = (await readAudit(store, { ...everything, kind: 'team' })).map(
      ({ data: { team, change } }) => `${String(team)} ${String(change)}`,
    );
    expect(changes).toEqual([
      ...['shop TeamAdded', 'shop KeyIssued', 'games TeamAdded', 'games KeyIssued', 'shop KeyRevoked'],
    ]);
    expect(await verify(store)).toMatchObject({ fault: undefined, teamFaults: [] });
  });
});

test('a change of a team is recorded with its author, and without the hash of a secret', async () => {
  const store = await temporaryStore();
  await givenTeam(store, { team: 'shop', keyId: 'k1' });
  await catchUp(store);
  const entries = await readAudit(store, { ...everything, team: 'shop' });
  expect(entries[1]).toMatchObject({ type: 'TeamChanged', data: { change: 'KeyIssued', revision: 1 } });
  expect(JSON.stringify(entries)).not.toMatch(/secretHash|[0-9a-f]{64}/);
});

test('an unsigned row in the stream of a team is recorded', async () => {
  const store = await temporaryStore();
  await givenTeam(store, { team: 'shop', keyId: 'k1' });
  const { data } = keyIssued({ team: 'shop', keyId: 'k9' });
  await store.append('team-shop', [{ id: systemIds.uuid(), type: 'KeyIssued', data, metadata: {} }], 'any');
  await catchUp(store);
  const entries = await readAudit(store, { ...everything, kind: 'team', team: 'shop' });
  expect(entries.at(-1)).toMatchObject({
    type: 'TeamEventRejected',
    data: { stream: 'team-shop', revision: 2, reason: 'not_signed' },
  });
});

describe('reading', () => {
  test('returns the last entries since a time, oldest first', async () => {
    const store = await temporaryStore();
    const clock = createFakeClock({ now: 1_000 });
    const log = createSecurityLog({ store, clock, ids: systemIds, log: silentLog });
    for (const name of ['a', 'b', 'c', 'd']) {
      await log.record([acted(name)]);
      await clock.advance(1_000);
    }
    const commands = async (query: Partial<Parameters<typeof readAudit>[1]>) =>
      (await readAudit(store, { ...everything, ...query })).map(({ data }) => data['command']);
    expect(await commands({ since: 2_000 })).toEqual(['b', 'c', 'd']);
    expect(await commands({ limit: 2 })).toEqual(['c', 'd']);
    expect(await commands({ kind: 'access' })).toEqual([]);
    expect(await commands({ team: 'shop' })).toEqual([]);
  });
});

/** Tampering with write access to the file. */
describe('tampering with the store', () => {
  async function start() {
    const file = await temporaryFile();
    const open = async () => {
      const store = await createEmbeddedEventStore({ file, clock: systemClock, log: silentLog });
      onTestFinished(() => store.close());
      return store;
    };
    const store = await open();
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
    await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
    await catchUp(store);
    for (const name of ['a', 'b', 'c']) await logOn(store).record([acted(name)]);
    const { head } = await verify(store);
    await store.close();
    const tamper = (sql: string): void => {
      using database = new DatabaseSync(file);
      database.exec(sql);
    };
    return { open, tamper, head: head?.hash ?? '' };
  }
  const of = (stream: string) => `stream_id = (SELECT id FROM streams WHERE name = '${stream}')`;

  test('by changing who acted is detected', async () => {
    const { open, tamper } = await start();
    tamper(`UPDATE events SET metadata = replace(metadata, 'anna', 'eve') WHERE ${of('security-log')}`);
    expect((await verify(await open())).fault?.kind).toBe('changed');
  });

  test('by removing the end is detected with a noted hash', async () => {
    const { open, tamper, head } = await start();
    tamper(`DELETE FROM events WHERE revision >= 4 AND ${of('security-log')};
      UPDATE streams SET last_revision = 3 WHERE name = 'security-log'`);
    expect(await verify(await open(), head)).toMatchObject({ fault: undefined, hasNoted: false });
  });

  // A revoked key is valid again if the row of the revocation is removed: the chain of the team alone cannot detect it.
  test('by removing a revocation at the end of a team is detected by the log', async () => {
    const { open, tamper } = await start();
    tamper(`DELETE FROM events WHERE revision = 2 AND ${of('team-shop')};
      UPDATE streams SET last_revision = 1 WHERE name = 'team-shop'`);
    expect((await verify(await open())).teamFaults).toEqual([
      { kind: 'gone_or_changed', stream: 'team-shop', revision: 2 },
    ]);
  });

  // The next change of the team took the place of the revocation, in the check as well: the revoked key was valid, and the
  // check
  // passed.
  test('by removing a revocation is detected even if the team was changed again since', async () => {
    const { open, tamper } = await start();
    tamper(`DELETE FROM events WHERE revision = 2 AND ${of('team-shop')};
      UPDATE streams SET last_revision = 1 WHERE name = 'team-shop'`);
    const store = await open();
    await appendTeamEvents(store, 'shop', [keyIssued({ team: 'shop', keyId: 'k2' })]);
    await catchUp(store);
    expect(await verify(store)).toMatchObject({
      fault: undefined,
      teamFaults: [{ kind: 'gone_or_changed', stream: 'team-shop', revision: 2 }],
    });
  });
});

test('an entry whose write failed is written by the next try', async () => {
  const store = await temporaryStore();
  let failures = 1;
  const failing: EventStore = {
    ...store,
    append: async (...args) => {
      if (failures > 0) {
        failures -= 1;
        throw new StoreUnavailable('away', 'The store is away.');
      }
      return store.append(...args);
    },
  };
  const log = logOn(failing);
  await expect(log.record([acted('a')])).rejects.toThrow(StoreUnavailable);
  await log.record([acted('a')]);
  expect(await readAudit(store, everything)).toHaveLength(1);
});
