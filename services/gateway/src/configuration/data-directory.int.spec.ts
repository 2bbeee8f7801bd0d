import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError, systemIds } from '@tollgate/service-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDataDirectory } from './data-directory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-data-directory-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes under this name fail, as on a full disk. */
const block = (name: string) => mkdirSync(join(folder, name));

// A start on a full disk ended with a stack, although the file that it wanted to make was there.
it('needs no room for secrets that are there', () => {
  const directory = openDataDirectory(folder);
  const made = directory.callbackSecrets(systemIds)[0]?.secret.reveal();
  block(`callback-secrets.${process.pid}`);
  expect(directory.callbackSecrets(systemIds)[0]?.secret.reveal()).toBe(made);
});

it('reports the file that cannot be written', () => {
  const directory = openDataDirectory(folder);
  block('quickstart.json.next');
  const quickstart = { gatewayUrl: '', callbackUrl: '', metricsUrl: '', pid: 1 };
  const write = () => directory.writeQuickstart(quickstart);
  expect(write).toThrow(StartupError);
  expect(write).toThrow(/quickstart\.json cannot be written \(EISDIR\)/);
});

// Without its events.db a gateway started empty, answered every payment with 404, and would have charged repeats again.
it.each([
  'index.db',
  'index-two.db',
  'command-service-index.db',
  'webhooks.db',
  'quickstart.json',
  'data-secrets',
])('does not start empty if there was a store, as shown by %s', (name) => {
  const directory = openDataDirectory(folder);
  directory.requireStore();
  // Created before the store, by an interrupted start.
  for (const early of ['callback-secrets', 'internal-secrets', 'operator-signing.key', 'index.db-lock'])
    writeFileSync(join(folder, early), '');
  directory.requireStore();
  writeFileSync(join(folder, name), 'made from a store');
  const opening = () => directory.requireStore();
  for (const lose of [() => undefined, () => writeFileSync(directory.eventsFile, '')]) {
    lose();
    expect(opening).toThrow(StartupError);
    expect(opening).toThrow(/events\.db is missing or empty, .*EVENTSTORE_URL/);
    expect(opening).toThrow(`or move away ${join(folder, name)} to begin without payments.`);
  }
  writeFileSync(directory.eventsFile, 'a store');
  directory.requireStore();
});

// With an accounts file, no sandbox locks out a second gateway: both wrote the same index.
it('locks an index for one process at a time', () => {
  const directory = openDataDirectory(folder);
  const lock = directory.lockIndex(directory.indexFile);
  const again = () => directory.lockIndex(directory.indexFile);
  expect(again).toThrow(StartupError);
  expect(again).toThrow(`Another gateway runs on ${folder}: set TOLLGATE_INSTANCE to run a second gateway`);
  directory.lockIndex(openDataDirectory(folder, 'two').indexFile).close();
  lock.close();
  again().close();
});

// The message asked for DATA_SECRETS. Operators made a new secret, and lost everything under the old one.
it.each(['callback', 'internal', 'webhook', 'data'] as const)(
  'names the file of the %s secrets that is empty or cut, and leaves it as it is',
  (name) => {
    const directory = openDataDirectory(folder);
    const read = () => directory[`${name}Secrets`](systemIds);
    const file = join(folder, `${name}-secrets`);
    for (const text of ['', 'k1:0123']) {
      writeFileSync(file, text);
      expect(read).toThrow(StartupError);
      expect(read).toThrow(`The file ${file} is empty or damaged. Restore it from a backup`);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  },
);
