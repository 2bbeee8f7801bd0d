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
/** A single pause of the machine is no delay of ours. */
const slackMs = 50;

let system: System;
let number = 0;

beforeAll(async () => {
  system = await startSystem();
  await tollgate(system, 'team', 'add', 'other');
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

async function p99Of(gateway: System['gateway']): Promise<number> {
  const times: number[] = [];
  while (times.length < measured) times.push(await pay(gateway));
  return times.toSorted((one, other) => one - other)[Math.ceil(measured * 0.99) - 1] ?? Infinity;
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
  'eight connections of one read key at most double the p99 of another team',
  { retry: 2, timeout: 180_000 },
  async (context) => {
    onlyInOneProcess(context, 'processes of their own share no event loop');
    const { gatewayUrl, apiKey } = system.quickstart;
    const other = system.gatewayAs(await issueKey(system, 'other', 'payments'));
    await pay(other);
    const before = await p99Of(other);
    const ending = new AbortController();
    const statuses = new Set<number>();
    const reading = readAll(gatewayUrl, apiKey, ending.signal, statuses);
    const during = await p99Of(other).finally(() => ending.abort());
    await reading;
    const after = await p99Of(other);
    expect([...statuses].sort()).toEqual([200, 429]);
    expect(during).toBeLessThan(2 * Math.max(before, after) + slackMs);
  },
);
