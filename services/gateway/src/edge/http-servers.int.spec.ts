import { createTeamDirectory } from '@tollgate/teams';
import { givenTeam, keyText, testVerifier } from '@tollgate/teams/testing';
import { temporaryStore } from '@tollgate/event-store/testing';
import { type Log, readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { gatewayConfigSchema } from '../configuration/config.ts';
import { startApiServer, startMetricsServer } from './http-servers.ts';
import { createMetrics } from './metrics/metrics.ts';

async function startMetrics(log: Log = silentLog, env: Record<string, string> = {}) {
  const stops = new AsyncDisposableStack();
  onTestFinished(() => stops.disposeAsync());
  const config = readConfig(gatewayConfigSchema, { GATEWAY_METRICS_PORT: '0', ...env });
  const parts = { notReady: () => [], degraded: () => [], metrics: createMetrics({ log: silentLog }) };
  return startMetricsServer({ config, clock: systemClock, ids: systemIds, logOf: () => log }, parts, stops);
}

async function start(env: Record<string, string>) {
  const store = await temporaryStore();
  await givenTeam(store, { team: 'shop', keyId: 'k1' });
  const stops = new AsyncDisposableStack();
  onTestFinished(() => stops.disposeAsync());
  const directory = createTeamDirectory({
    store,
    clock: systemClock,
    verifier: testVerifier,
    log: silentLog,
  });
  onTestFinished(() => directory.stop());
  await directory.start();
  const config = readConfig(gatewayConfigSchema, { GATEWAY_PORT: '0', ...env });
  const url = await startApiServer(
    { config, clock: createFakeClock(), ids: systemIds, logOf: () => silentLog },
    {
      services: [{ registerRoutes: (app) => void app.get('/api/one', async () => ({})) }],
      notReady: () => [],
      degraded: () => [],
      directory,
      metrics: createMetrics({ log: silentLog }),
    },
    stops,
  );
  return async (path: string, authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await request(`${url}${path}`, { headers });
    await answer.body.dump();
    return answer;
  };
}

test('GATEWAY_REQUESTS_PER_SECOND limits each key, and health is answered under any load', async () => {
  const call = await start({ GATEWAY_REQUESTS_PER_SECOND: '2' });
  const authorization = `Bearer ${keyText({ team: 'shop', keyId: 'k1' })}`;
  for (const path of ['/healthz', '/readyz'])
    for (let count = 0; count < 5; count += 1) expect((await call(path, authorization)).statusCode).toBe(200);
  expect((await call('/api/one', authorization)).statusCode).toBe(200);
  expect((await call('/api/one', authorization)).statusCode).toBe(200);
  const refused = await call('/api/one', authorization);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1']);
  expect((await call('/api/one')).statusCode).toBe(200);
  expect((await call('/api/one')).statusCode).toBe(429);
  for (const path of ['/healthz', '/readyz']) {
    expect((await call(path)).statusCode).toBe(200);
    expect((await call(path, authorization)).statusCode).toBe(200);
  }
});

// 105 KB for any caller, 370 times a second: nothing was left for payments.
test('metrics are served at a port of their own only', async () => {
  const url = await startMetrics();
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect((await request(`${url}${path}`)).statusCode, path).toBe(200);
  expect((await request(`${url}/api/one`)).statusCode).toBe(404);
  expect((await (await start({}))('/metrics')).statusCode).toBe(404);
});

test("their port is random if the API's is, and loopback only unless configured otherwise", () => {
  const metricsOf = (env: Record<string, string>) => readConfig(gatewayConfigSchema, env).metrics;
  expect(metricsOf({})).toEqual({ host: '127.0.0.1', port: 3_002 });
  expect(metricsOf({ GATEWAY_PORT: '0', GATEWAY_HOST: '0.0.0.0' })).toEqual({ host: '127.0.0.1', port: 0 });
  expect(metricsOf({ GATEWAY_PORT: '0', GATEWAY_METRICS_PORT: '9' }).port).toBe(9);
});

test('a server with plain HTTP beyond this machine logs a warning at its start', async () => {
  const warned: unknown[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void warned.push(message) };
  await startMetrics(log);
  expect(warned).toEqual([]);
  await startMetrics(log, { GATEWAY_METRICS_HOST: '0.0.0.0' });
  expect(warned).toEqual([expect.stringContaining('plain HTTP beyond this machine')]);
});
