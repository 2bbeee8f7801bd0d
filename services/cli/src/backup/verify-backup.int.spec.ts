import { appendFileSync, cpSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createEmbeddedEventStore, type EventStore, requireDataSecrets } from '@tollgate/event-store';
import { temporaryFile } from '@tollgate/event-store/testing';
import { type SecurityEvent, createSecurityLog, newSigningKeys } from '@tollgate/teams';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { appendPayment, writeView, happening, requested } from '@tollgate/views/testing';
import { paymentKind } from '@tollgate/views';
import { expect, it } from 'vitest';
import { makeBackup } from './make-backup.ts';
import { manifestName, sha256Of } from './manifest.ts';
import { openDataDirectory, openTeamKeys } from '@tollgate/gateway/configuration';
import { runOpening, runWith, toolsWith } from '../testing/run-with.ts';

const parts = { clock: systemClock, ids: systemIds, log: silentLog };
const { signal } = new AbortController();
const eventOf = (type: string, data: object = {}, metadata: object = {}) => ({
  id: systemIds.uuid(),
  type,
  data,
  metadata,
});

/** A backup with the secrets of a gateway that has a team and two payments, one of them with its view. */
async function given(more: (store: EventStore) => Promise<unknown> = async () => undefined) {
  const directory = openDataDirectory(dirname(await temporaryFile()));
  const store = await createEmbeddedEventStore({ file: directory.eventsFile });
  const teamKeys = openTeamKeys({}, directory, { mayInstall: true });
  await runWith(toolsWith({ ...parts, store, directory, teamKeys }), 'team add shop');
  await requireDataSecrets({ store, ...parts }, directory.dataSecrets(systemIds));
  directory.callbackSecrets(systemIds);
  directory.webhookSecrets(systemIds);
  await appendPayment(store, 'p1', [requested(), happening.accepted]);
  await appendPayment(store, 'p2', [requested()]);
  await more(store);
  const folder = join(dirname(await temporaryFile()), 'monday');
  await makeBackup({ directory, folder, withSecrets: true, by: 'ann', signal, ...parts });
  await store.close();
  return folder;
}

/** Changes a file of a backup and its manifest entry, like an attacker hiding the change. */
async function forge(folder: string, name: string, change: (file: string) => void): Promise<void> {
  const file = join(folder, name);
  change(file);
  const manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8')) as {
    files: { name: string; bytes: number; sha256: string }[];
  };
  for (const entry of manifest.files)
    if (entry.name === name)
      Object.assign(entry, { bytes: statSync(file).size, sha256: await sha256Of(file, signal) });
  writeFileSync(join(folder, manifestName), JSON.stringify(manifest));
}

const noGateway = () => Promise.reject(new Error('verify opened a gateway'));
const verify = (folder: string, ...more: string[]) =>
  runOpening(noGateway, ['backup', 'verify', folder, ...more]);

/** Verifies a backup that is not valid, and expects this finding. */
async function expectFinding(folder: string, finding: RegExp | string): Promise<void> {
  const { exitCode, out, error } = await verify(folder);
  expect([exitCode, error]).toEqual([1, '']);
  if (typeof finding === 'string') expect(out).toContain(finding);
  else expect(out).toMatch(finding);
  expect(out).not.toContain('is complete');
  expect(out).not.toContain('ab'.repeat(32));
}

const sql =
  (...statements: string[]) =>
  (file: string) => {
    const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    for (const each of statements) database.exec(each);
    database.close();
    for (const log of ['-wal', '-shm']) rmSync(`${file}${log}`, { force: true });
  };

const withoutStream = (name: string) =>
  sql(
    `DELETE FROM events WHERE stream_id = (SELECT id FROM streams WHERE name = '${name}')`,
    `DELETE FROM streams WHERE name = '${name}'`,
  );

const contentsOf = (folder: string) =>
  readdirSync(folder).map((name) => [
    name,
    statSync(join(folder, name)).mtimeMs,
    readFileSync(join(folder, name), 'base64'),
  ]);

it('reports the checks, opens no gateway, and changes nothing', async () => {
  const folder = await given();
  const before = contentsOf(folder);
  const { exitCode, out, error } = await verify(folder);
  expect([exitCode, error]).toEqual([0, '']);
  expect(out).toContain(`${folder} is complete, as of `);
  expect(out).toMatch(/streams with 5 events have no gap, and release \S+ can read them\.\n/);
  expect(out).toContain(
    '0 views match their events.\nThe records of 1 teams are signed.\nThe chain of the security log is intact: 0 entries.\nThe secrets match the backup',
  );
  expect(contentsOf(folder)).toEqual(before);
  const json = JSON.parse((await verify(folder, '--json')).out) as object;
  expect(json).toMatchObject({ folder, by: 'ann', streams: 4, events: 5, teams: 1, findings: [] });
});

it('compares the views with the fold of their events', async () => {
  const withViews = async (store: EventStore) => {
    for (const token of ['p1', 'p2']) await writeView(store, paymentKind, token);
  };
  const folder = await given(withViews);
  expect((await verify(folder)).out).toContain('2 views match their events.');
  await forge(
    folder,
    'events.db',
    sql(
      "UPDATE events SET data = replace(data, 'EUR', 'USD') WHERE type LIKE '%View%' AND revision = 0 AND data LIKE '%p1%'",
    ),
  );
  await expectFinding(
    folder,
    /^view_payment-p1: it differs from its events\.$[^]*is not a valid backup: 1 findings\.\n$/m,
  );
});

const logged =
  (...events: SecurityEvent[]) =>
  (store: EventStore) =>
    createSecurityLog({ ...parts, store }).record(
      events.map((event) => ({ event, actor: { kind: 'service', name: 'spec' } })),
    );
const acted = (command: string): SecurityEvent => ({ type: 'OperatorActed', data: { command, detail: {} } });

it('checks the chain of the security log', async () => {
  const folder = await given(logged(acted('rebuild'), acted('webhook secret')));
  expect((await verify(folder)).out).toContain('security log is intact: 2 entries.\n');
  await forge(folder, 'events.db', sql("UPDATE events SET data = replace(data, 'rebuild', 'nothing')"));
  await expectFinding(folder, /^security-log: Entry 0 was changed/m);
});

it('accepts topics and webhooks of which only the latest are kept', async () => {
  const folder = await given(async (store) => {
    for (const stream of ['bus-gateway.payments.v1:0', 'webhook-t1']) {
      const delivered = { id: 'whk_1', attempt: 1, at: 1, statusCode: 200 };
      const events = [eventOf('Delivered', delivered), eventOf('Delivered', delivered)];
      await store.append(stream, events, 'no-stream');
      await store.truncate(stream, 1);
    }
  });
  const { exitCode, out } = await verify(folder);
  expect([exitCode, out]).toEqual([0, expect.stringContaining('is complete')]);
});

it('names events that this release cannot read', async () => {
  const folder = await given(async (store) => {
    const actor = { kind: 'service', name: 's' };
    const metadata = { schemaVersion: 99, correlationId: 'c', causationId: 'c', recordedAt: 1, actor };
    await store.append('payment-newer', [eventOf('PaymentNoted', {}, metadata)], 'no-stream');
  });
  await expectFinding(folder, /^payment-newer: event 0 \(PaymentNoted\): event_of_newer/m);
});

it.each([
  [
    'a changed file',
    (file: string) =>
      writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, -1), Buffer.from('x')])),
    'events.db: it was changed',
  ],
  ['a longer file', (file: string) => appendFileSync(file, 'x'), 'events.db: it has '],
  ['a missing file', (file: string) => rmSync(file), 'events.db: it is missing.'],
  [
    'a log of another store',
    (file: string) => writeFileSync(`${file}-wal`, ''),
    'events.db-wal: it does not belong to this backup.',
  ],
])('names %s', async (_, change, finding) => {
  const folder = await given();
  change(join(folder, 'events.db'));
  await expectFinding(folder, finding);
});

it.each([
  [
    'a gap in a stream',
    'events.db',
    sql(
      "DELETE FROM events WHERE revision = 0 AND stream_id = (SELECT id FROM streams WHERE name = 'payment-p1')",
    ),
    'payment-p1: it has 1 events from revision 1 on',
  ],
  ['fewer events than were backed up', 'events.db', withoutStream('payment-p2'), 'events.db: it ends at '],
  [
    'a record of a team that is not signed',
    'events.db',
    sql(
      "UPDATE events SET type = 'TeamAdded', metadata = '{}' WHERE stream_id = (SELECT id FROM streams WHERE name = 'team-shop')",
    ),
    'operator-signing.pub: It has not signed all events of team-shop',
  ],
  [
    'secrets of another gateway',
    'data-secrets',
    (file: string) => writeFileSync(file, `k1:${'ab'.repeat(32)}`),
    'data-secrets: The data secret k1 in ',
  ],
  [
    'secrets that are none',
    'callback-secrets',
    (file: string) => writeFileSync(file, 'none'),
    'callback-secrets: ',
  ],
  [
    'a signing key of another gateway',
    'operator-signing.key',
    (file: string) => writeFileSync(file, newSigningKeys().privateKey.reveal()),
    'operator-signing.key: This private key does not match any public key',
  ],
])('names %s, also where the digests are right', async (_, name, change, finding) => {
  const folder = await given();
  await forge(folder, name, change);
  await expectFinding(folder, finding);
});

// For large stores the last position must come from the last event, not from SQLite's counter.
it('names fewer events than were backed up, including in a large store', async () => {
  const folder = await given(async (store) => {
    const delivered = { id: 'whk_1', attempt: 1, at: 1, statusCode: 200 };
    for (let number = 0; number < 11; number += 1) {
      const events = Array.from({ length: 1_000 }, () => eventOf('Delivered', delivered));
      await store.append(`webhook-t${number}`, events, 'no-stream');
    }
    await appendPayment(store, 'last', [requested()]);
  });
  await forge(folder, 'events.db', withoutStream('payment-last'));
  await expectFinding(folder, 'events.db: it ends at ');
});

it('refuses a folder without a backup, or a backup of a newer release, with a sentence', async () => {
  const folder = await given();
  expect(await verify(join(folder, 'none'))).toMatchObject({
    exitCode: 1,
    error: expect.stringMatching(/^There is no backup in [^\n]*\.\n$/),
  });
  const manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8')) as object;
  for (const wrong of [
    '{',
    '[]',
    JSON.stringify({ ...manifest, version: 2 }),
    JSON.stringify({ ...manifest, files: [{ name: '../../etc/passwd', bytes: 1, sha256: 'a'.repeat(64) }] }),
  ]) {
    writeFileSync(join(folder, manifestName), wrong);
    expect((await verify(folder)).error).toMatch(
      /backup\.json was not written by this release of tollgate backup[^\n]*\.\n$/,
    );
  }
  writeFileSync(
    join(folder, manifestName),
    JSON.stringify({ ...manifest, schemaVersion: 99, release: '9.0.0' }),
  );
  expect((await verify(folder)).out).toContain('use release 9.0.0.');
  rmSync(join(folder, manifestName));
  expect((await verify(folder)).error).toMatch(/^There is no backup in [^\n]*\.\n$/);
});

it('reads a backup copied to another folder', async () => {
  const folder = await given();
  const elsewhere = join(dirname(folder), 'else where #1');
  cpSync(folder, elsewhere, { recursive: true });
  expect((await verify(elsewhere)).exitCode).toBe(0);
});
