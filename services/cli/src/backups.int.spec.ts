import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createEmbeddedEventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { appendPayment, happening, requested } from '@tollgate/views/testing';
import { describe, expect, it } from 'vitest';
import { makeBackup } from './backup/make-backup.ts';
import { openDataDirectory, openTeamKeys } from '@tollgate/gateway/configuration';
import type { OpenedTools } from './tools.ts';
import { runWith, toolsWith } from './testing/run-with.ts';

const parts = { clock: systemClock, ids: systemIds, log: silentLog };

/** A data directory with a team and two payments whose store stays open, and a place for its backups. */
async function start(given: Partial<OpenedTools> = {}) {
  const path = dirname(await temporaryFile());
  const directory = openDataDirectory(path);
  const store = await temporaryStore({ file: directory.eventsFile });
  const teamKeys = openTeamKeys({}, directory, { mayInstall: true });
  const tools = toolsWith({ ...parts, store, directory, teamKeys, ...given });
  const run = (...argv: string[]) => runWith(tools, [...argv, '--as', 'ann@shop.example']);
  await run('team', 'add', 'shop');
  await appendPayment(store, 'p1', [requested(), happening.accepted]);
  await appendPayment(store, 'p2', [requested()]);
  const place = dirname(await temporaryFile());
  return { path, directory, store, run, place, folder: join(place, 'monday') };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;
const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'backup.json'), 'utf8')) as Record<string, unknown>;

describe('backup', () => {
  it('makes a folder private to the owner, and reports its content', async () => {
    const { run, folder, place } = await start();
    const { exitCode, out, error } = await run('backup', folder);
    expect([exitCode, error]).toEqual([0, '']);
    expect(out).toMatch(/holds 4 events \(1 MB\), as of .*\nIt contains no secrets/);
    expect(readdirSync(place)).toEqual(['monday']);
    expect(readdirSync(folder).toSorted()).toEqual(['backup.json', 'events.db', 'operator-signing.pub']);
    expect(modeOf(folder)).toBe(0o700);
    for (const name of readdirSync(folder)) expect(modeOf(join(folder, name))).toBe(0o600);
    expect(manifestOf(folder)).toMatchObject({
      kind: 'tollgate-backup',
      by: 'ann@shop.example',
      events: 4,
      hasSecrets: false,
      schemaVersion: 1,
      position: expect.stringMatching(/^0+4$/),
    });
  });

  it('contains everything needed to open the store', async () => {
    const { run, folder, store } = await start();
    await run('backup', folder);
    await appendPayment(store, 'p3', [requested()]);
    const restored = await createEmbeddedEventStore({ file: join(folder, 'events.db') });
    expect(await Array.fromAsync(restored.read('payment-p1'))).toHaveLength(2);
    expect(await Array.fromAsync(restored.read('payment-p3'))).toHaveLength(0);
    await restored.close();
  });

  it('--with-secrets includes secrets from the data directory, and names the missing ones', async () => {
    const { run, folder, directory } = await start();
    const secrets = directory.dataSecrets(systemIds);
    directory.webhookSecrets(systemIds);
    const { out } = await run('backup', folder, '--with-secrets');
    expect(out).toContain('Not in the data directory, and therefore not in the backup: callback-secrets.');
    const names = ['data-secrets', 'operator-signing.key', 'webhook-secrets'];
    for (const name of names) expect(modeOf(join(folder, name))).toBe(0o600);
    expect(readFileSync(join(folder, 'data-secrets'), 'utf8')).toContain(secrets[0].kid);
    expect(out).not.toContain(readFileSync(join(folder, 'data-secrets'), 'utf8').trim().slice(3));
  });

  it('--json prints the result without progress', async () => {
    const { run, folder } = await start();
    const { out } = await run('backup', folder, '--json');
    expect(JSON.parse(out)).toEqual({ ...manifestOf(folder), folder, missingSecrets: [] });
  });

  it('accepts an empty folder, and makes it private', async () => {
    const { run, folder } = await start();
    mkdirSync(folder, { mode: 0o755 });
    expect((await run('backup', folder)).exitCode).toBe(0);
    expect(modeOf(folder)).toBe(0o700);
  });

  it('writes nothing into a non-empty folder, a file, or a missing parent', async () => {
    const { run, folder, place, path } = await start();
    await run('backup', folder);
    const first = manifestOf(folder);
    expect((await run('backup', folder)).error).toMatch(/monday is not empty\. Nothing was written\. .*\n$/);
    expect(manifestOf(folder)).toEqual(first);
    writeFileSync(join(place, 'file'), '');
    expect((await run('backup', join(place, 'file'))).error).toContain('is not a folder');
    expect((await run('backup', join(place, 'no', 'where'))).error).toContain('does not exist');
    expect((await run('backup', join(path, 'monday'))).error).toContain('would be lost with it');
    expect((await run('backup', path)).error).toContain('would be lost with it');
    expect(readdirSync(place).toSorted()).toEqual(['file', 'monday']);
  });

  it('is refused if the events are in EventStoreDB, with a link to the documentation', async () => {
    const { run, folder } = await start({ isEmbedded: false });
    expect(await run('backup', folder)).toEqual({
      exitCode: 1,
      out: '',
      error: expect.stringContaining('docs/operator/eventstoredb.md'),
    });
    expect(existsSync(folder)).toBe(false);
  });

  it('leaves nothing when it is stopped halfway', async () => {
    const stopping = AbortSignal.abort();
    const { run, folder, place } = await start({ stopSignal: () => stopping });
    expect(await run('backup', folder)).toMatchObject({
      exitCode: 1,
      error: 'The backup was stopped and removed.\n',
    });
    expect(readdirSync(place)).toEqual([]);
  });
});

describe('a backup that cannot be made', () => {
  async function failing(
    more: Partial<Parameters<typeof makeBackup>[0]>,
    folderOf = (folder: string) => folder,
  ) {
    const { directory, folder, place } = await start();
    const { signal } = new AbortController();
    const options = { directory, folder: folderOf(folder), withSecrets: false, by: 'ann', signal, ...parts };
    const error: unknown = await makeBackup({ ...options, ...more }).catch((thrown: unknown) => thrown);
    return { error, left: readdirSync(place) };
  }

  it('is not started on a full disk', async () => {
    const { error, left } = await failing({ roomOf: () => 1_000_000 });
    expect(error).toMatchObject({
      code: 'backup_no_room',
      message: expect.stringMatching(/has room for 1 MB, and the backup needs \d+ MB/),
    });
    expect(left).toEqual([]);
  });

  it('leaves files that another program created meanwhile, and none of its own', async () => {
    const racing = await start();
    const { folder, place, directory } = racing;
    const takesLong = {
      now: () => {
        mkdirSync(folder);
        writeFileSync(join(folder, 'other'), '');
        return 0;
      },
    };
    const options = { directory, folder, withSecrets: false, by: 'ann', ...parts };
    const { signal } = new AbortController();
    const making = makeBackup({ ...options, signal, clock: { ...systemClock, ...takesLong } });
    await expect(making).rejects.toMatchObject({ code: 'backup_folder_not_empty' });
    expect(readdirSync(place)).toEqual(['monday']);
    expect(readdirSync(folder)).toEqual(['other']);
  });

  it('fails with an error if the folder is not writable', async () => {
    const { error } = await failing({}, () => '/proc/monday');
    expect(error).toMatchObject({ code: expect.stringMatching(/^backup_(folder_invalid|no_room)$/) });
  });
});
