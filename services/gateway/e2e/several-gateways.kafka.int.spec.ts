/**
 * Several gateways on the same folder and broker: one joins, one is killed, one leaves, and the last one is killed and
 * restarted.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAllThere, startLoad } from './kafka-load.ts';
import { expectPublishedOnce } from './kafka-topic.ts';
import { localBroker, stopBrokers } from './local-broker.ts';
import { freePorts } from './free-ports.ts';
import { type System, besideEnv, newDataDir, startSystem, stopEverything } from './system.ts';

/** With each set of gateways. */
const creationsEach = 50;

const broker = localBroker();
const { brokers } = broker;
/** Runs only the sandbox, which must outlive the killed gateways. */
let host: System;

beforeAll(async () => {
  [host] = await Promise.all([startSystem(), broker.start()]);
}, 120_000);
afterAll(async () => {
  await stopEverything();
  await stopBrokers();
});

/**
 * Two gateways, the publishing one first. The service's callbacks go to the other one, as a load balancer might route
 * them.
 */
async function startBoth(): Promise<{ first: System; second: System; join: () => Promise<System> }> {
  const dataDir = newDataDir();
  const { CALLBACK_PORT: callbackPort = '' } = await freePorts();
  const start = (name: string, more: Record<string, string> = {}) =>
    startSystem({
      dataDir,
      inFrontOf: host,
      env: {
        ...besideEnv(dataDir, host.quickstart, name),
        KAFKA_BROKERS: brokers,
        CALLBACK_PUBLIC_URL: `http://127.0.0.1:${callbackPort}`,
        PROVIDER_QUIET_MS: '500',
        ...more,
      },
    });
  const first = await start('first');
  const second = await start('second', { CALLBACK_PORT: callbackPort });
  return { first, second, join: () => start('third') };
}

it(
  'under load a third one joins, one is killed, one leaves, the last is killed and restarted: each event is on its topic once, in order',
  { timeout: 300_000 },
  async () => {
    const { first, second, join } = await startBoth();
    let alive = [first, second];
    const load = startLoad(() => alive, 'order');
    const grown = (count: number) =>
      eventually(() => expect(load.tokens.size).toBeGreaterThanOrEqual(count), { timeoutMs: 60_000 });
    const grow = () => grown(load.tokens.size + creationsEach);
    await grow();
    const third = await join();
    alive = [first, second, third];
    await grow();
    await first.kill();
    // The load balancer has not noticed yet: some requests go to the dead gateway.
    await eventually(() => expect(load.setbacks).toBeGreaterThan(0), { timeoutMs: 60_000 });
    alive = [second, third];
    await grow();
    alive = [second];
    expect(await third.terminate()).toBe(0);
    await grow();
    const { setbacks } = load;
    await second.kill();
    await eventually(() => expect(load.setbacks).toBeGreaterThan(setbacks), { timeoutMs: 60_000 });
    const restarted = await second.restart();
    alive = [restarted];
    await grow();
    await load.end();
    await expectAllThere(restarted, [load]);
    await expectPublishedOnce({ dataDir: restarted.dataDir, brokers, timeoutMs: 60_000 });
  },
);
