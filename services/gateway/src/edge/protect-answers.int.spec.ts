import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, type TLSSocket, connect } from 'node:tls';
import { issue } from '@tollgate/provider/testing';
import { readConfig, serverTls, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { Agent, request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../configuration/config.ts';
import { startApiServer } from './http-servers.ts';
import { createMetrics } from './metrics/metrics.ts';
import { startApi } from './testing/api.ts';

const mayBeKept = (url: string) => url.startsWith('/console/static/');

// Only the console and four routes sent these headers: an issued key and a webhook secret could stay in a cache.
it('every route forbids guessing the type of its answer, and caching it', async () => {
  const { app, routes } = await startApi(undefined, { hasConsole: true });
  const lacking: string[] = [];
  for (const { method, url } of [...routes, { method: 'GET', url: '/no/such/path' }])
    for (const each of [method].flat()) {
      const path = url.replaceAll(/:\w+/g, 'x').replaceAll('*', 'x');
      const { headers } = await app.inject({ method: each as 'GET', url: path });
      const isProtected =
        headers['x-content-type-options'] === 'nosniff' &&
        (headers['cache-control'] === 'no-store' || mayBeKept(url));
      if (!isProtected) lacking.push(`${each} ${url}: ${headers['cache-control']}`);
    }
  expect(lacking).toEqual([]);
  expect(routes.length).toBeGreaterThan(90);
});

async function startHttps(): Promise<URL> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-https-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { cert, key } = await issue('itself');
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const stops = new AsyncDisposableStack();
  onTestFinished(() => stops.disposeAsync());
  const config = readConfig(gatewayConfigSchema, {
    GATEWAY_PORT: '0',
    GATEWAY_TLS_CERT_FILE: join(folder, 'cert.pem'),
    GATEWAY_TLS_KEY_FILE: join(folder, 'key.pem'),
  });
  const url = await startApiServer(
    { config, clock: systemClock, ids: systemIds, logOf: () => silentLog },
    { services: [], notReady: () => [], degraded: () => [], metrics: createMetrics({ log: silentLog }) },
    stops,
  );
  return new URL(url);
}

/** @returns the suite that was agreed on, or undefined */
function shakeHands(port: number, options: ConnectionOptions): Promise<string | undefined> {
  const client: TLSSocket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  return new Promise((resolve) => {
    client.once('secureConnect', () => resolve(client.getCipher().standardName));
    client.once('error', () => resolve(undefined));
  }).finally(() => client.destroy()) as Promise<string | undefined>;
}

// The defaults of Node also accept static RSA and CBC.
it('TLS agrees only on version 1.2 or later, with forward secrecy and authenticated encryption', async () => {
  const port = Number((await startHttps()).port);
  const upTo12 = { maxVersion: 'TLSv1.2' } as const;
  const agreed = {
    '1.3': await shakeHands(port, { minVersion: 'TLSv1.3' }),
    '1.2': await shakeHands(port, { ...upTo12, ciphers: 'ECDHE+AESGCM' }),
    CBC: await shakeHands(port, { ...upTo12, ciphers: 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384' }),
    '1.1': await shakeHands(port, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }),
  };
  // Static RSA needs an RSA certificate to be tried.
  for (const suite of serverTls.ciphers.split(':')) expect(suite).toMatch(/^(TLS_|ECDHE-)/);
  expect(agreed).toEqual({
    '1.3': expect.stringContaining('GCM'),
    '1.2': expect.stringContaining('ECDHE'),
    CBC: undefined,
    '1.1': undefined,
  });
});

it('an answer over HTTPS sends HSTS', async () => {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  onTestFinished(() => dispatcher.close());
  const { headers, body } = await request(new URL('/healthz', await startHttps()), { dispatcher });
  await body.dump();
  expect(headers['strict-transport-security']).toBe('max-age=31536000');
});
