import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IndexBuilding, type PaymentIndex } from '@tollgate/lists';
import { readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../../configuration/config.ts';
import { openDataDirectory } from '../../configuration/data-directory.ts';
import { type Parts, createParts } from '../parts.ts';
import type { ServiceName } from '../../configuration/service-names.ts';
import { startCommandService } from './command-service.ts';

const account = {
  name: 'main',
  environment: 'sandbox',
  baseUrl: 'https://127.0.0.1:9',
  privateKeyFile: 'main.key',
};

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-command-service-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

interface Start {
  /** Services next to it in the process. */
  others?: readonly ServiceName[];
  /** Progress of the index of the process. */
  building?: () => IndexBuilding | undefined;
  dataDir?: string;
  /** Of a living process. */
  pid?: number;
}

async function start({
  others = [],
  building = () => undefined,
  dataDir = newFolder(),
  pid = process.pid,
}: Start) {
  const accountsFile = join(dataDir, 'accounts.json');
  writeFileSync(accountsFile, JSON.stringify({ accounts: [account] }));
  writeFileSync(join(dataDir, account.privateKeyFile), 'sk_sandbox_1');
  const config = readConfig(gatewayConfigSchema, {
    TOLLGATE_DATA_DIR: dataDir,
    PROVIDER_ACCOUNTS_FILE: accountsFile,
    CALLBACK_PUBLIC_URL: 'http://127.0.0.1:9',
  });
  const stops = new AsyncDisposableStack();
  onTestFinished(() => stops.disposeAsync());
  const deps = { config, clock: systemClock, ids: systemIds, env: {}, pid };
  const parts: Parts = createParts(
    { ...deps, logOf: () => silentLog },
    {
      dataDirectory: openDataDirectory(dataDir),
      stops,
      runs: (service) => service === 'command-service' || others.includes(service),
    },
  );
  const index = async (): Promise<PaymentIndex> => ({ ...(await parts.index()), building });
  const service = await startCommandService({ ...parts, index }, { callbackUrl: undefined });
  return { service, parts, metrics: parts.metrics };
}

const gauges = /^tollgate_(inquiry_need|read_model_lag_seconds)/m;

// Inquiries are scheduled from the index: no metric and no /readyz reported an own index that was stuck.
it('reports an index that only it has', async () => {
  const reported: { building?: IndexBuilding } = {};
  const { service, metrics } = await start({ building: () => reported.building });
  expect(await metrics.text()).toMatch(gauges);
  expect(await service.degraded?.()).toEqual([]);
  reported.building = {
    followed: '' as IndexBuilding['followed'],
    head: '' as IndexBuilding['head'],
    events: 3,
  };
  expect(await service.degraded?.()).toEqual(['index']);
});

it('leaves that to the query service if both are in one process', async () => {
  const building = {
    followed: '' as IndexBuilding['followed'],
    head: '' as IndexBuilding['head'],
    events: 3,
  };
  const { service, metrics } = await start({ others: ['query-service'], building: () => building });
  expect(await metrics.text()).not.toMatch(gauges);
  expect(await service.degraded?.()).toEqual([]);
});

it('shares the limits of an account with the other command services', { timeout: 60_000 }, async () => {
  const dataDir = newFolder();
  const limitsOf = async ({ parts }: Awaited<ReturnType<typeof start>>) => {
    const { accounts } = await parts.accounts();
    const limits = accounts.inquiriesOf('sandbox', 'main')?.limits;
    return [limits?.concurrentMax(), limits?.perSecondMax()];
  };
  const one = await start({ dataDir });
  expect(await limitsOf(one)).toEqual([32, 200]);
  const other = await start({ dataDir, pid: process.ppid });
  // Each is seen by the other after a heartbeat.
  const halved = async () =>
    expect([await limitsOf(one), await limitsOf(other)]).toEqual([
      [16, 100],
      [16, 100],
    ]);
  await eventually(halved, { timeoutMs: 30_000 });
});
