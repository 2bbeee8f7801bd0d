/** Half of the look-ups in a pair of gateways answered 404: each knew only the requests that it had answered itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../configuration/config.ts';
import { startGateway } from './gateway.ts';
import { otherOrigins } from './share-requests.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-share-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** @param pid of a living process: each takes over the work of ended ones */
async function start(folder: string, env: Record<string, string> = {}, pid = process.pid) {
  const config = readConfig(gatewayConfigSchema, {
    TOLLGATE_DATA_DIR: folder,
    GATEWAY_PORT: '0',
    CALLBACK_PORT: '0',
    GATEWAY_METRICS_PORT: '0',
    PAYMENT_SERVICE_PORT: '0',
    PAYMENT_SERVICE_HTTP_PORT: '0',
    ...env,
  });
  const deps = {
    config,
    clock: systemClock,
    ids: systemIds,
    logOf: () => silentLog,
    env: {},
    pid,
  };
  const { url, metricsUrl, quickstart, stop } = await startGateway(deps);
  onTestFinished(stop);
  const headers = { authorization: `Bearer ${quickstart?.content.apiKey}` };
  const get = async (path: string) => {
    const answer = await request(`${url}${path}`, { headers });
    const body = (await answer.body.json()) as { request?: { id: string }; requests?: { id: string }[] };
    return { status: answer.statusCode, id: String(answer.headers['request-id']), body };
  };
  return { get, metricsUrl };
}

it(
  'each of two gateways on one folder finds and lists the requests of both',
  { timeout: 60_000 },
  async () => {
    const folder = newFolder();
    const first = await start(folder);
    const second = await start(folder, { TOLLGATE_INSTANCE: 'second' }, process.ppid);
    for (const [asked, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const sent: string[] = [];
      // A gateway reports to members that it has seen, which takes up to two heartbeats.
      await eventually(
        async () => {
          sent.push((await asked.get('/api/v1/payments/pay_none')).id);
          const found = await Promise.all(sent.map((id) => other.get(`/api/v1/requests/${id}`)));
          const records = found.flatMap(({ body }) => body.request ?? []);
          const { body } = await other.get('/api/v1/requests?token=pay_none');
          expect(records).not.toEqual([]);
          expect(body.requests).toEqual(expect.arrayContaining(records));
        },
        { timeoutMs: 30_000, intervalMs: 1_000 },
      );
    }
  },
);

it('accepts records only with the internal credential', { timeout: 60_000 }, async () => {
  const { metricsUrl } = await start(newFolder());
  const answer = await request(`${metricsUrl}/internal/requests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '[]',
  });
  expect([answer.statusCode, await answer.body.text()]).toEqual([
    403,
    expect.stringContaining('internal_only'),
  ]);
});

const own = { host: 'one', pid: 1, life: 'a' };
it.each([
  ['this process', '1.a@one', 'http://127.0.0.1:9', []],
  ['a loopback address of this machine', '2.b@one', 'http://127.0.0.1:9', ['http://127.0.0.1:9']],
  ['a loopback address of another machine', '2.b@two', 'http://127.0.0.1:9', []],
  ['an address of another machine', '2.b@two', 'http://two:9', ['http://two:9']],
  ['no address', '2.b@one', 'x', []],
])('reports to others that it can reach: %s', (_, member, internalUrl, origins) => {
  expect(otherOrigins([{ member, release: '0', reads: 1, internalUrl }], own)).toEqual(origins);
});
