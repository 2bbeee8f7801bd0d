/**
 * Eight connections of one key that read pages of 500 events held up another team's payment for eleven seconds: a page held
 * the event loop for 144 ms, and rates count requests only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { onlyInOneProcess } from './arrangement.ts';
import { issueKey, tollgate } from './commands.ts';
import { type System, startSystem, stopEverything } from './system.ts';

const connections = 8;
const measured = 100;

let system: System;
let other: System['gateway'];
let number = 0;

beforeAll(async () => {
  system = await startSystem();
  await tollgate(system, 'team', 'add', 'other');
  other = system.gatewayAs(await issueKey(system, 'other', 'payments'));
  for (let payment = 0; payment < 200; payment += 1) await pay(system.gateway);
}, 180_000);
afterAll(stopEverything);

async function pay(gateway: System['gateway']): Promise<number> {
  const begunAt = performance.now();
  number += 1;
  const body = { product: 'Tea', amount: 1_000, currency: 'EUR', orderNumber: `cost-${number}` };
  const { statusCode } = await gateway('POST', '/api/v1/payments', { body });
  expect(statusCode).toBe(200);
  return performance.now() - begunAt;
}

/** The median: the slowest of a hundred show the machine's pauses, with and without the limit. */
async function medianOf(gateway: System['gateway']): Promise<number> {
  const times: number[] = [];
  while (times.length < measured) times.push(await pay(gateway));
  return times.toSorted((one, other) => one - other)[measured / 2] ?? Infinity;
}

/** Reads again at once, and after a refusal when that says. */
async function readAll(url: string, key: string, signal: AbortSignal, statuses: Set<number>): Promise<void> {
  const dispatcher = new Agent({ connections });
  onTestFinished(() => dispatcher.close());
  const reader = async () => {
    while (!signal.aborted) {
      const { statusCode, headers, body } = await request(`${url}/api/v1/events?perPage=500`, {
        headers: { authorization: `Bearer ${key}` },
        dispatcher,
      });
      await body.dump();
      statuses.add(statusCode);
      const retryAfter = Number(headers['retry-after'] ?? 0);
      if (retryAfter > 0) await sleep(retryAfter * 1_000, undefined, { signal }).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: connections }, reader));
}

it(
  "eight connections of one read key at most double the time of another team's payments",
  { retry: 2, timeout: 180_000 },
  async (context) => {
    onlyInOneProcess(context, 'processes of their own share no event loop');
    const { gatewayUrl, apiKey } = system.quickstart;
    await pay(other);
    const before = await medianOf(other);
    const ending = new AbortController();
    const statuses = new Set<number>();
    const reading = readAll(gatewayUrl, apiKey, ending.signal, statuses);
    const during = await medianOf(other).finally(() => ending.abort());
    await reading;
    const after = await medianOf(other);
    expect(during).toBeLessThan(2 * Math.max(before, after));
    expect([...statuses].sort()).toEqual([200, 429]);
  },
);
