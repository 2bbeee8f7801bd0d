import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { StartupError } from '@tollgate/service-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAccountsFile } from './account-config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-accounts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('readAccountsFile', () => {
  it('finds the files that it names from its own folder, wherever the process runs', () => {
    mkdirSync(join(folder, 'keys'));
    writeFileSync(join(folder, 'keys', 'main'), 'key-of-main\n');
    const file = join(folder, 'accounts.json');
    const account = { name: 'main', environment: 'sandbox', baseUrl: 'https://pay.example' };
    writeFileSync(file, JSON.stringify({ accounts: [{ ...account, privateKeyFile: 'keys/main' }] }));
    for (const path of [file, relative(process.cwd(), file)])
      expect(readAccountsFile(path)[0]?.privateKey.reveal()).toBe('key-of-main');
  });

  it.each([
    ['is not there', 'none.json', 'ENOENT'],
    ['is a folder', '.', 'EISDIR'],
  ])('reports what to do if the file %s', (_name, name, reason) => {
    const file = join(folder, name);
    const read = () => readAccountsFile(file);
    expect(read).toThrow(StartupError);
    expect(read).toThrow(
      `The accounts file ${file} cannot be read (${reason}). Set PROVIDER_ACCOUNTS_FILE to a file that this user may read, and start again.`,
    );
  });

  it('requires UTF-8: payments are recorded under its names', () => {
    const file = join(folder, 'latin1.json');
    writeFileSync(file, Buffer.from('{"accounts":[{"name":"M\u00fcnchen"}]}', 'latin1'));
    expect(() => readAccountsFile(file)).toThrow('must be UTF-8');
  });
});
