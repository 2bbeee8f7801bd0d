// A gateway that started while a cluster of EventStoreDB elected a leader ended with "The event store did not confirm": five of
// seven runs on a real cluster. A store that did not answer at all was waited for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { servedStore } from '@tollgate/event-store/testing/eventstoredb';
import { readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it, onTestFinished, vi } from 'vitest';
import { gatewayConfigSchema } from '../configuration/config.ts';
import { startGateway } from './gateway.ts';

vi.setConfig({ testTimeout: 90_000 });

type Server = Awaited<ReturnType<typeof servedStore>>['server'];

/** Longer than an append is repeated by itself. */
const electionMs = 4_000;

const elections: [string, (server: Server) => void][] = [
  ['no node answers as leader', ({ faults }) => (faults.state = 'no-leader')],
  ['a former leader still answers reads', ({ faults }) => (faults.onAppend = () => ({ kind: 'not-ready' }))],
];

async function startDuring(election: (server: Server) => void) {
  const { server } = await servedStore();
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-election-'));
  const env = {
    TOLLGATE_DATA_DIR: dataDir,
    EVENTSTORE_URL: server.url,
    GATEWAY_PORT: '0',
    GATEWAY_METRICS_PORT: '0',
    CALLBACK_PORT: '0',
    PAYMENT_SERVICE_HTTPS_PORT: '0',
    PAYMENT_SERVICE_HTTP_PORT: '0',
  };
  const config = readConfig(gatewayConfigSchema, env);
  const deps = { config, clock: systemClock, ids: systemIds, logOf: () => silentLog, env, pid: process.pid };
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  election(server);
  setTimeout(() => Object.assign(server.faults, { state: 'leading', onAppend: () => undefined }), electionMs);
  return { ...deps, hasFollowerThread: true };
}

it.each(elections)('a whole gateway starts once a leader is elected, while %s', async (_, election) => {
  const deps = await startDuring(election);
  const gateway = await startGateway(deps);
  onTestFinished(() => gateway.stop());
  expect(gateway.quickstart?.content.apiKey).toBeDefined();
});

it('a service alone starts once a leader is elected', async () => {
  const [, election] = elections[1]!;
  const gateway = await startGateway(await startDuring(election), ['callback-ingester']);
  onTestFinished(() => gateway.stop());
  expect(gateway.metricsUrl).toBeDefined();
});
