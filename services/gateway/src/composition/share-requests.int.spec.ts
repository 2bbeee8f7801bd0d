/** Half of the look-ups in a pair of gateways answered 404: each knew only the requests that it had answered itself. */
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { otherOrigins } from './share-requests.ts';
import { callerOf, newDataDir, startHere } from './testing/start-here.ts';

/** @param pid of a living process: each takes over the work of ended ones */
async function start(dataDir: string, env: Record<string, string> = {}, pid = process.pid) {
  const call = callerOf(await startHere({ env: { ...env, TOLLGATE_DATA_DIR: dataDir }, pid }));
  return async (path: string) => {
    const { headers, body } = await call(path);
    const shown = body as { request?: { id: string }; requests?: { id: string }[] };
    return { id: String(headers['request-id']), body: shown };
  };
}

it(
  'each of two gateways on one folder finds and lists the requests of both',
  { timeout: 60_000 },
  async () => {
    const dataDir = await newDataDir();
    const first = await start(dataDir);
    const second = await start(dataDir, { TOLLGATE_INSTANCE: 'second' }, process.ppid);
    for (const [asked, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const sent: string[] = [];
      // A gateway reports to members that it has seen, which takes up to two heartbeats.
      await eventually(
        async () => {
          sent.push((await asked('/api/v1/payments/pay_none')).id);
          const found = await Promise.all(sent.map((id) => other(`/api/v1/requests/${id}`)));
          const records = found.flatMap(({ body }) => body.request ?? []);
          const { body } = await other('/api/v1/requests?token=pay_none');
          expect(records).not.toEqual([]);
          expect(body.requests).toEqual(expect.arrayContaining(records));
        },
        { timeoutMs: 30_000, intervalMs: 1_000 },
      );
    }
  },
);

it('accepts records only with the internal credential', { timeout: 60_000 }, async () => {
  const { metricsUrl } = await startHere({ env: {} });
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
