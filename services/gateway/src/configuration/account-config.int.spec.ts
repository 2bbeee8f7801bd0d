import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { StartupError } from '@tollgate/service-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyVariablesOf, readAccountsFile } from './account-config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-accounts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeAccounts(key: object): string {
  const file = join(folder, 'accounts.json');
  const account = { name: 'main', environment: 'sandbox', baseUrl: 'https://pay.example', ...key };
  writeFileSync(file, JSON.stringify({ accounts: [account] }));
  return file;
}

it('lists the variables with keys before it reads them', () => {
  expect(keyVariablesOf(writeAccounts({ privateKeyEnv: 'MAIN_KEY' }))).toEqual(['MAIN_KEY']);
  expect(keyVariablesOf(writeAccounts({ privateKeyFile: 'main' }))).toEqual([]);
  expect(keyVariablesOf(join(folder, 'none.json'))).toEqual([]);
});

describe('readAccountsFile', () => {
  it('finds the files that it names from its own folder, wherever the process runs', () => {
    mkdirSync(join(folder, 'keys'));
    writeFileSync(join(folder, 'keys', 'main'), 'key-of-main\n');
    const file = writeAccounts({ privateKeyFile: 'keys/main' });
    for (const path of [file, relative(process.cwd(), file)])
      expect(readAccountsFile(path, { env: {} })[0]?.privateKey.reveal()).toBe('key-of-main');
  });

  it.each([
    ['is not there', 'none.json', 'ENOENT'],
    ['is a folder', '.', 'EISDIR'],
  ])('reports what to do if the file %s', (_name, name, reason) => {
    const file = join(folder, name);
    const read = () => readAccountsFile(file, { env: {} });
    expect(read).toThrow(StartupError);
    expect(read).toThrow(
      `The accounts file ${file} cannot be read (${reason}). Set PROVIDER_ACCOUNTS_FILE to a file that this user may read, and start again.`,
    );
  });

  it('requires UTF-8: payments are recorded under its names', () => {
    const file = join(folder, 'latin1.json');
    writeFileSync(file, Buffer.from('{"accounts":[{"name":"M\u00fcnchen"}]}', 'latin1'));
    expect(() => readAccountsFile(file, { env: {} })).toThrow('must be UTF-8');
  });
});
