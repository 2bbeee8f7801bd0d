import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError, readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../configuration/config.ts';
import { createMetrics } from '../edge/metrics/metrics.ts';
import { openAccounts } from './open-accounts.ts';

const entry = (name: string, more: object = {}) => ({
  name,
  environment: 'sandbox',
  baseUrl: `https://127.0.0.1:9/${name}`,
  privateKeyFile: 'the.key',
  ...more,
});

async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-accounts-'));
  const file = join(folder, 'accounts.json');
  const write = (...accounts: object[]) => writeFileSync(file, JSON.stringify({ accounts }));
  const writeKey = (key: string) => writeFileSync(join(folder, 'the.key'), key);
  writeKey('sk_1');
  write(entry('main'), entry('other'));
  const stops = new AsyncDisposableStack();
  onTestFinished(async () => {
    await stops.disposeAsync();
    rmSync(folder, { recursive: true });
  });
  const config = readConfig(gatewayConfigSchema, { PROVIDER_ACCOUNTS_FILE: file });
  const opened = await openAccounts(
    {
      config,
      env: {},
      clock: systemClock,
      ids: systemIds,
      logOf: () => silentLog,
      pid: 1,
      metrics: createMetrics({ log: silentLog }),
      isWhole: false,
      processes: () => 1,
    },
    undefined as never,
    stops,
  );
  if (opened.file === undefined) throw new Error('there is a file');
  const providerOf = (name: string) => opened.accounts.inquiriesOf('sandbox', name)?.provider;
  return { ...opened, file: opened.file, path: file, write, writeKey, providerOf };
}

const none = { added: [], changed: [], removed: [] };

describe('an accounts file that is read again', () => {
  it('adds accounts and terms, and leaves unchanged ones alone', async () => {
    const { file, write, accounts, providerOf } = await start();
    const [main, other] = [providerOf('main'), providerOf('other')];
    write(entry('main', { weight: 7 }), entry('other', { baseUrl: 'https://127.0.0.1:10' }), entry('new'));
    const differences = { added: ['sandbox/new'], changed: ['sandbox/main', 'sandbox/other'], removed: [] };
    expect(file.compare()).toEqual(differences);
    expect(accounts.all()).toMatchObject([{ weight: 1 }, {}]);
    expect(file.reload()).toEqual(differences);
    expect(accounts.all()).toMatchObject([{ weight: 7 }, {}, { name: 'new' }]);
    expect([providerOf('main') === main, providerOf('other') === other]).toEqual([true, false]);
    expect(file.reload()).toEqual(none);
  });

  it('applies another key, without showing it', async () => {
    const { file, writeKey, providerOf } = await start();
    const before = providerOf('main');
    writeKey('sk_2');
    expect(file.reload()).toEqual({ ...none, changed: ['sandbox/main', 'sandbox/other'] });
    expect(providerOf('main') === before).toBe(false);
  });

  it.each([
    ['is not JSON', '{"accounts": [', 'not JSON'],
    ['has a wrong term', JSON.stringify({ accounts: [entry('main', { weight: 0 })] }), 'weight'],
    [
      'has lost an account that takes payments',
      JSON.stringify({ accounts: [entry('main')] }),
      'sandbox/other',
    ],
  ])('changes nothing if it %s', async (_, text, said) => {
    const { file, accounts, path } = await start();
    writeFileSync(path, text);
    for (const use of [file.compare, file.reload]) {
      expect(use).toThrow(StartupError);
      expect(use).toThrow(said);
    }
    expect(accounts.all()).toHaveLength(2);
  });

  it('keeps a paused account: its payments are still inquired', async () => {
    const { file, write, accounts } = await start();
    accounts.setState('sandbox', 'other', 'paused');
    write(entry('main'));
    expect(file.reload).toThrow('sandbox/other, which is not drained');
  });

  it('may leave out an account that is drained', async () => {
    const { file, write, accounts } = await start();
    accounts.setState('sandbox', 'other', 'draining');
    write(entry('main'));
    expect(file.reload()).toEqual({ ...none, removed: ['sandbox/other'] });
    expect(accounts.all()).toMatchObject([{ name: 'main' }]);
  });
});
