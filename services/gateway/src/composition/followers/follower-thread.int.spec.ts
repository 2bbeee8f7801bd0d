import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError, readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../../configuration/config.ts';
import { startGateway } from '../gateway.ts';

function givenFolder(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-followers-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** A whole gateway in this process, with its sandbox. */
function start(dataDir: string) {
  const env = {
    TOLLGATE_DATA_DIR: dataDir,
    GATEWAY_PORT: '0',
    CALLBACK_PORT: '0',
    GATEWAY_METRICS_PORT: '0',
    PAYMENT_SERVICE_HTTPS_PORT: '0',
    PAYMENT_SERVICE_HTTP_PORT: '0',
    TOLLGATE_LOG_LEVEL: 'silent',
  };
  const config = readConfig(gatewayConfigSchema, env);
  const own = { clock: systemClock, ids: systemIds, logOf: () => silentLog, env, pid: process.pid };
  return startGateway({ config, ...own, hasFollowerThread: true });
}

it('projects and fills the index next to the thread that answers', { timeout: 60_000 }, async () => {
  const { url, metricsUrl, quickstart, stop } = await start(givenFolder());
  onTestFinished(stop);
  const headers = {
    authorization: `Bearer ${quickstart?.content.apiKey}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' });
  const created = await request(`${url}/api/v1/payments`, { method: 'POST', headers, body });
  const { token } = (await created.body.json()) as { token: string };
  const position = String(created.headers['tollgate-position']);
  // Read your own writes: the awaited work happens on the other thread.
  await eventually(async () => {
    const shown = await request(`${url}/api/v1/payments/${token}`, {
      headers: { ...headers, 'tollgate-min-position': position },
    });
    expect(await shown.body.json()).toMatchObject({ payment: { token, phase: 'init' } });
  });
  const metricsOf = async () => (await request(`${metricsUrl}/metrics`)).body.text();
  await eventually(async () => {
    const text = await metricsOf();
    expect(text).toContain('tollgate_projector_advancing 1');
    expect(text).toContain('tollgate_read_model_lag_seconds 0');
  });
  const ready = await request(`${metricsUrl}/readyz`);
  expect([ready.statusCode, await ready.body.json()]).toEqual([
    200,
    { ready: true, notReady: [], degraded: [] },
  ]);
});

it('refuses to start if the other thread cannot, with the same message', { timeout: 60_000 }, async () => {
  const dataDir = givenFolder();
  const { stop } = await start(dataDir);
  await stop();
  const foreign = new DatabaseSync(join(dataDir, 'index.db'));
  foreign.exec('PRAGMA application_id = 1');
  foreign.close();
  const refusal = start(dataDir);
  await expect(refusal).rejects.toThrow(StartupError);
  await expect(refusal).rejects.toThrow(/index\.db is a database of another program/);
});
