/**
 * A gateway whose broker is not available yet, or fails under load, still accepts payments. Nothing is lost or
 * published twice.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callbackPath, parseCallbackSecrets } from '@tollgate/provider/callbacks';
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CreationLoad, expectAllThere, startLoad } from './kafka-load.ts';
import { expectPublishedOnce } from './kafka-topic.ts';
import { localBroker, stopBrokers } from './local-broker.ts';
import { type System, startSystem, stopEverything } from './system.ts';

/** Duration of the outage by how it ends; a start takes some seconds more. @unit milliseconds */
const outageMs = { SIGTERM: 10_000, SIGKILL: 60_000 };
const creationsBefore = 40;
const creationsMeanwhile = 80;

const broker = localBroker();
const { brokers } = broker;
let system: System;
const loads: CreationLoad[] = [];

beforeAll(async () => {
  system = await startSystem({ env: { KAFKA_BROKERS: brokers } });
}, 90_000);
afterAll(async () => {
  await stopEverything();
  await stopBrokers();
});

const seconds = (count: number) => ({ timeoutMs: count * 1_000 });
const readiness = async () => {
  const { statusCode, body } = await request(`${system.quickstart.gatewayUrl}/readyz`);
  return `${statusCode} ${await body.text()}`;
};

/** Sends a callback about a payment, to the URL that only the provider was given. */
async function callBack(token: string): Promise<{ statusCode: number; retryAfter: unknown; code: unknown }> {
  const secrets = parseCallbackSecrets(readFileSync(join(system.dataDir, 'callback-secrets'), 'utf8').trim());
  const url = `${system.quickstart.callbackUrl}${callbackPath(secrets, 'sandbox', token, Date.now())}`;
  const headers = { 'content-type': 'application/json' };
  const { statusCode, headers: answered, body } = await request(url, { method: 'POST', headers, body: '{}' });
  const { errors = [] } = (await body.json()) as { errors?: { code: string }[] };
  return { statusCode, retryAfter: answered['retry-after'], code: errors[0]?.code };
}

const refusedForNow = { statusCode: 503, retryAfter: '5', code: 'bus_unavailable' };

async function grow(load: CreationLoad, count: number): Promise<void> {
  const enough = load.tokens.size + count;
  await eventually(() => expect(load.tokens.size).toBeGreaterThanOrEqual(enough), seconds(60));
}

/** The sandbox resends callbacks on request, to avoid the pauses between its attempts. */
async function expectCallbacksToComeAgain(): Promise<void> {
  await eventually(
    async () => {
      await system.sandbox('POST', '/sandbox/clock', { advanceMs: 20_000 });
      const { callbacks } = (await system.sandbox('GET', '/sandbox/ledger')).body;
      expect(callbacks.filter(({ state }) => state !== 'delivered')).toEqual([]);
      expect(callbacks.some(({ tries }) => tries > 1)).toBe(true);
    },
    { timeoutMs: 60_000, intervalMs: 1_000 },
  );
}

it(
  'a gateway that starts without a broker takes payments, and publishes them once there is one',
  { timeout: 300_000 },
  async () => {
    expect(system.output()).toContain('Tollgate runs, but these parts do not work: message-bus.');
    expect(system.output()).toContain(`"address":"${brokers}"`);
    const load = startLoad(() => [system], 'early');
    loads.push(load);
    await grow(load, creationsBefore);
    await load.end();
    expect(load.setbacks).toBe(0);
    expect(await callBack([...load.tokens.values()][0] ?? '')).toEqual(refusedForNow);
    await broker.start();
    await expectCallbacksToComeAgain();
    await expectAllThere(system, loads);
    await expectPublishedOnce({ dataDir: system.dataDir, brokers, timeoutMs: 60_000 });
  },
);

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'a broker that ends by %s under load and returns later loses nothing, and no gateway needs a restart',
  { timeout: 300_000 },
  async (signal) => {
    await broker.start();
    const load = startLoad(() => [system], signal.toLowerCase());
    loads.push(load);
    await grow(load, creationsBefore);
    await broker.stop(signal);
    const down = new Promise((resolve) => setTimeout(resolve, outageMs[signal]));
    await grow(load, creationsMeanwhile);
    expect(await callBack([...load.tokens.values()][0] ?? '')).toEqual(refusedForNow);
    await down;
    await eventually(async () => expect(await readiness()).toContain('message-bus'), seconds(60));
    await broker.start();
    await grow(load, creationsBefore);
    await load.end();
    expect(load.setbacks).toBe(0);
    await expectCallbacksToComeAgain();
    await expectAllThere(system, loads);
    await expectPublishedOnce({ dataDir: system.dataDir, brokers, timeoutMs: 60_000 });
    expect(await readiness()).toBe('200 {"ready":true,"notReady":[],"degraded":[]}');
  },
);
