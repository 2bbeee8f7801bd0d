import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createEmbeddedEventStore } from '@tollgate/event-store';
import { temporaryFile } from '@tollgate/event-store/testing';
import { openDataDirectory, openTeamKeys } from '@tollgate/gateway/configuration';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { appendPayment, requested } from '@tollgate/views/testing';
import { expect, it } from 'vitest';
import { openBesideGateway } from '../open-beside-gateway.ts';
import { runOpening } from '../testing/run-with.ts';
import { makeBackup } from './make-backup.ts';
import { putInPlace } from './put-in-place.ts';

const parts = { clock: systemClock, ids: systemIds, log: silentLog };

/** A backup of a store with one payment, and a directory to restore into. */
async function start() {
  const directory = openDataDirectory(dirname(await temporaryFile()));
  openTeamKeys({}, directory, { mayInstall: true }).install?.();
  const store = await createEmbeddedEventStore({ file: directory.eventsFile });
  await appendPayment(store, 'p1', [requested()]);
  await store.close();
  const folder = join(dirname(await temporaryFile()), 'monday');
  const { signal } = new AbortController();
  await makeBackup({ ...parts, directory, folder, withSecrets: true, by: 'ann', signal });
  const dataDir = join(dirname(await temporaryFile()), 'data');
  async function open(backup?: string) {
    const restoring = backup === undefined ? {} : { endRestore: await putInPlace(backup, dataDir) };
    const { tools, close } = await openBesideGateway(dataDir, parts);
    return { tools: { ...tools, ...restoring }, close };
  }
  return { folder, dataDir, run: (...argv: string[]) => runOpening(open, argv) };
}

it('restores into an empty directory, and begins an epoch with every account paused', async () => {
  const { folder, dataDir, run } = await start();
  const restored = await run('restore', folder);
  expect(restored).toMatchObject({ exitCode: 0, error: '' });
  expect(restored.out).toContain('All accounts are paused.');
  expect(readdirSync(dataDir)).not.toContain('restoring');
  expect((await run('account', 'list')).out).toContain('All accounts are paused');
  const resume = ['account', 'resume', '--account', 'main', '--environment', 'sandbox', '--reason', 'x'];
  const refused = await run(...resume);
  expect(refused).toMatchObject({ exitCode: 1, error: expect.stringContaining('run reconcile') });
  expect(await run(...resume, '--override')).toMatchObject({ exitCode: 0 });
  expect((await run('account', 'list')).out).toContain('sandbox/main active');
  expect((await run('audit', '--json')).out).toContain('"isOverridden":true');
});

it('writes nothing into a non-empty directory, or from a damaged backup', async () => {
  const { folder, dataDir, run } = await start();
  await run('restore', folder);
  const again = await run('restore', folder);
  expect(again).toMatchObject({ exitCode: 1, error: expect.stringContaining('move the directory away') });
  rmSync(dataDir, { recursive: true });
  writeFileSync(join(folder, 'events.db'), 'damaged');
  const damaged = await run('restore', folder);
  expect(damaged).toMatchObject({ exitCode: 1, error: expect.stringContaining('not a valid backup') });
  expect(existsSync(dataDir)).toBe(false);
});

it("can be repeated after an interruption, and blocks the gateway's start until then", async () => {
  const { folder, dataDir, run } = await start();
  await putInPlace(folder, dataDir);
  expect(() => openDataDirectory(dataDir).requireStore()).toThrow('was interrupted');
  expect(await run('restore', folder)).toMatchObject({ exitCode: 0 });
  openDataDirectory(dataDir).requireStore();
});

it('requires a backup, or the option for the epoch alone', async () => {
  const { run } = await start();
  expect(await run('restore')).toMatchObject({ exitCode: 2, error: expect.stringContaining('<backup>') });
});
