import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { StartupError } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { callerOf, newDataDir, startHere } from '../testing/start-here.ts';

const start = (dataDir: string) =>
  startHere({ env: { TOLLGATE_DATA_DIR: dataDir }, hasFollowerThread: true });

it('projects and fills the index next to the thread that answers', { timeout: 60_000 }, async () => {
  const gateway = await start(await newDataDir());
  const { metricsUrl } = gateway;
  const call = callerOf(gateway);
  const order = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' };
  const created = await call('/api/v1/payments', order);
  const { token } = created.body as { token: string };
  const position = String(created.headers['tollgate-position']);
  // Read your own writes: the awaited work happens on the other thread.
  await eventually(async () => {
    const shown = await call(`/api/v1/payments/${token}`, undefined, { 'tollgate-min-position': position });
    expect(shown.body).toMatchObject({ payment: { token, phase: 'init' } });
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
  const dataDir = await newDataDir();
  const { stop } = await start(dataDir);
  await stop();
  const foreign = new DatabaseSync(join(dataDir, 'index.db'));
  foreign.exec('PRAGMA application_id = 1');
  foreign.close();
  const refusal = start(dataDir);
  await expect(refusal).rejects.toThrow(StartupError);
  await expect(refusal).rejects.toThrow(/index\.db is a database of another program/);
});
