/** Starting and stopping from an operator's perspective. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { StartupError } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHere } from '../src/composition/testing/start-here.ts';
import { onlyInOneProcess } from './arrangement.ts';
import { freePorts, someFreePorts } from './free-ports.ts';
import { type System, newDataDir, startRefused, startSystem, stopEverything } from './system.ts';

afterAll(stopEverything);

const anyPorts = {
  GATEWAY_PORT: '0',
  GATEWAY_METRICS_PORT: '0',
  CALLBACK_PORT: '0',
  PAYMENT_SERVICE_HTTPS_PORT: '0',
  PAYMENT_SERVICE_HTTP_PORT: '0',
};

/** The error of a gateway's start in this process, with these variables. */
async function refusalOf(dataDir: string, env: Record<string, string>): Promise<string> {
  const refused: unknown = await startHere({ env: { ...env, TOLLGATE_DATA_DIR: dataDir } }).catch(
    (error: unknown) => error,
  );
  if (!(refused instanceof StartupError)) throw new Error('it has started', { cause: refused });
  return refused.message;
}

describe('a start that cannot succeed reports what to do', () => {
  beforeEach((context) => onlyInOneProcess(context, 'of several, each says it under its own name'));

  // Each start named one port only, and the first ones had issued a key of the demo team that was kept nowhere.
  it('about all taken ports at once', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const variables = Object.keys(anyPorts);
    const taken = Object.fromEntries(variables.map((variable) => [variable, String(port)]));
    const refusal = await refusalOf(newDataDir(), taken);
    for (const variable of variables) expect(refusal).toContain(`port ${port} on 127.0.0.1 (${variable})`);
    await new Promise((resolve) => server.close(resolve));
  });

  it('about two variables with the same port', async () => {
    const port = String((await someFreePorts(1))[0]);
    const refusal = await refusalOf(newDataDir(), { GATEWAY_PORT: port, CALLBACK_PORT: port });
    expect(refusal).toMatch(/^Already in use: port \d+ on 127\.0\.0\.1 \(CALLBACK_PORT\)\. /);
  });

  it.each(['GATEWAY_HOST', 'GATEWAY_METRICS_HOST', 'PAYMENT_SERVICE_HOST'])(
    'about a %s that is no address of this machine',
    async (variable) => {
      const refusal = await refusalOf(newDataDir(), { [variable]: '192.0.2.1' });
      for (const part of [variable, '192.0.2.1', 'EADDRNOTAVAIL']) expect(refusal).toContain(part);
    },
  );

  it('for a data directory that cannot be created', async () => {
    const file = join(newDataDir(), 'a-file');
    writeFileSync(file, '');
    const refusal = await refusalOf(join(file, 'data'), {});
    for (const part of ['TOLLGATE_DATA_DIR', file]) expect(refusal).toContain(part);
  });

  it('about a corrupt payment-service.db', async () => {
    const dataDir = newDataDir();
    writeFileSync(join(dataDir, 'payment-service.db'), 'this was never a database'.repeat(400));
    expect(await refusalOf(dataDir, {})).toContain('payment-service.db');
  });

  function expectOneSentence(refused: { exitCode: number | null; output: string }, parts: string[]): void {
    expect(refused.exitCode).toBeGreaterThan(0);
    for (const part of parts) expect(refused.output).toContain(part);
    expect(refused.output.trim().split('\n')).toHaveLength(1);
    expect(refused.output).not.toContain('    at ');
  }

  it('for an invalid port, in one sentence and with an exit code', async () => {
    const refused = await startRefused({ dataDir: newDataDir(), env: { ...anyPorts, GATEWAY_PORT: 'http' } });
    expectOneSentence(refused, ['GATEWAY_PORT']);
  });

  it('about a folder that another gateway runs on, unless this one has its own name', async () => {
    const { dataDir, quickstart, terminate } = await startSystem({ env: anyPorts });
    // The reason must come before any port in use.
    const samePorts = { ...anyPorts, CALLBACK_PORT: new URL(quickstart.callbackUrl).port };
    expectOneSentence(await startRefused({ dataDir, env: samePorts }), [dataDir, 'TOLLGATE_INSTANCE']);
    const second = await startSystem({ dataDir, env: { ...anyPorts, TOLLGATE_INSTANCE: 'second' } });
    expect(second.quickstart.paymentServiceUrl).toBe(quickstart.paymentServiceUrl);
    const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' };
    expect((await second.gateway('POST', '/api/v1/payments', { body })).statusCode).toBe(200);
    await second.terminate();
    await terminate();
  });
});

it('a start that failed has issued no key', async (context) => {
  onlyInOneProcess(context, 'others are given their key by the spec');
  const dataDir = newDataDir();
  const certificate = { GATEWAY_TLS_CERT_FILE: '/missing', GATEWAY_TLS_KEY_FILE: '/missing' };
  expect(await refusalOf(dataDir, certificate)).toContain('TLS_CERT_FILE');
  expect(await refusalOf(dataDir, certificate)).toContain('TLS_CERT_FILE');
  const { quickstart } = await startHere({ env: { TOLLGATE_DATA_DIR: dataDir } });
  expect(quickstart?.content.apiKey).toBeDefined();
});

describe('a running system', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ env: anyPorts });
  });

  it('reports its state', async () => {
    expect((await system.gateway('GET', '/healthz')).body).toEqual({ status: 'ok' });
    await eventually(async () => {
      expect((await system.gateway('GET', '/readyz')).body).toEqual({
        ready: true,
        notReady: [],
        degraded: [],
      });
    });
  });

  it('prints the location of its key, but not the key', () => {
    const { apiKey, paymentServiceKey } = system.quickstart;
    expect(system.output()).toContain('quickstart.json');
    for (const secret of [apiKey, paymentServiceKey]) expect(system.output()).not.toContain(secret);
    expect(readFileSync(join(system.dataDir, 'quickstart.json'), 'utf8')).toContain(apiKey);
  });

  it('keeps its keys over restarts, even without its event store', async () => {
    const { apiKey, paymentServiceKey } = system.quickstart;
    expect(statSync(join(system.dataDir, 'quickstart.json')).mode & 0o777).toBe(0o600);
    expect(await system.terminate()).toBe(0);
    const again = await system.restart();
    expect(again.quickstart).toMatchObject({ apiKey, paymentServiceKey });
    expect((await again.gateway('GET', '/api/v1/payments')).statusCode).toBe(200);
    await again.terminate();
  });
});

describe('a system', () => {
  it('ends cleanly on SIGTERM, after the requests in progress', async () => {
    const system = await startSystem({ env: await freePorts() });
    await system.sandbox('POST', '/sandbox/faults', [
      { operation: 'create', fault: 'slow_reply', delayMs: 700, times: 1 },
    ]);
    const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' };
    const creating = system.gateway('POST', '/api/v1/payments', { body });
    await eventually(async () => {
      const { body: ledger } = await system.sandbox('GET', '/sandbox/ledger');
      expect(ledger.payments).toHaveLength(1);
    });
    const ending = system.terminate();
    expect((await creating).statusCode).toBe(200);
    expect(await ending).toBe(0);
  });
});
