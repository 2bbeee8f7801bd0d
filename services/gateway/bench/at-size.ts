/**
 * `npm run bench -- at-size`: the cost of a creation, the rate of callbacks to approved payments, and the memory of
 * the gateway, while the store grows; one payment in ten stays open. Then the time of a start on that store.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { readCount } from '@tollgate/testing/bench';
import { Agent, request } from 'undici';
import { createPayments } from './http-load.ts';
import {
  type GatewayTarget,
  type Service,
  countByStatus,
  cpuMsOf,
  memoryOf,
  rounded,
  say,
  startBareService,
  startGateway,
  stop,
  stopAll,
  untilShown,
} from './programs.ts';

const connections = 32;
const measuredMs = 5_000;
const callbackConnections = 64;
/** Sizes at which a row is printed, as shares of all payments. */
const steps = [0.01, 0.1, 0.25, 0.5, 1];

/** Approves this many at the provider, and waits until its callbacks have approved the payments. */
async function approve(gateway: GatewayTarget, service: Service, count: number): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: readFileSync(service.caFile, 'utf8') }, headersTimeout: 0 });
  const goal = (await countByStatus(gateway, 'init')) - count;
  const startedAt = performance.now();
  const { body } = await request(`${service.url}/bench/approve`, {
    method: 'POST',
    dispatcher,
    body: JSON.stringify({ count, connections: callbackConnections }),
  });
  await body.dump();
  await dispatcher.close();
  while ((await countByStatus(gateway, 'init')) > goal) await pause(20);
  return (1_000 * count) / (performance.now() - startedAt);
}

interface Row {
  payments: number;
  perSecond: number;
  /** CPU time of the gateway per creation. */
  cpuMs: number;
  medianMs: number;
  p99Ms: number;
  /** Approved payments per second in the read model, from the provider's callbacks on. */
  callbacksPerSecond: number;
  memoryMiB: number;
}

const portion = 10_000;

/**
 * Creates payments up to a total. Approves all but a tenth on the way, because open payments are inquired after
 * minutes. The last portion stays open. Returns the total.
 */
async function fill(
  gateway: GatewayTarget,
  service: Service,
  range: { made: number; wanted: number },
): Promise<number> {
  let { made } = range;
  while (made < range.wanted) {
    const load = { ...gateway, connections, durationMs: measuredMs };
    const { count } = await createPayments({ ...load, countMax: Math.min(portion, range.wanted - made) });
    await untilShown(gateway);
    made += count + 1;
    if (made < range.wanted) await approveAllButATenth(gateway, service, made);
  }
  return made;
}

const approveAllButATenth = async (gateway: GatewayTarget, service: Service, made: number): Promise<number> =>
  approve(gateway, service, Math.round((await countByStatus(gateway, 'init')) - 0.1 * made));

async function measureRow(gateway: GatewayTarget, service: Service, made: number): Promise<Row> {
  const callbacksPerSecond = await approveAllButATenth(gateway, service, made);
  const before = cpuMsOf(gateway.child);
  const load = { ...gateway, connections, durationMs: measuredMs };
  const { count, perSecond, medianMs, p99Ms } = await createPayments(load);
  await untilShown(gateway);
  const cpuMs = (cpuMsOf(gateway.child) - before) / count;
  const { now: memoryMiB } = memoryOf(gateway.child);
  return { payments: made + count + 1, perSecond, cpuMs, medianMs, p99Ms, callbacksPerSecond, memoryMiB };
}

function print({ payments, perSecond, cpuMs, medianMs, p99Ms, callbacksPerSecond, memoryMiB }: Row): void {
  say(
    `${rounded(payments)} payments: created, processor`,
    `${rounded(perSecond)}/s, ${cpuMs.toFixed(2)} ms each; p50 / p99 ${medianMs.toFixed(1)} / ${p99Ms.toFixed(1)} ms`,
  );
  say('  callbacks to approved; memory', `${rounded(callbacksPerSecond)}/s; ${rounded(memoryMiB)} MiB`);
}

async function measure(payments: number): Promise<void> {
  const service = await startBareService();
  const gateway = await startGateway({ service, name: 'gateway' });
  let made = 0;
  for (const step of steps) {
    made = await fill(gateway, service, { made, wanted: Math.round(payments * step) });
    const row = await measureRow(gateway, service, made);
    print(row);
    made = row.payments;
  }
  const { most } = memoryOf(gateway.child);
  await stop(gateway.child);
  const again = await startGateway({ service, name: 'gateway', key: gateway.key });
  say(
    'memory at the most; ready again after',
    `${rounded(most)} MiB; ${rounded(again.readyAfterMs)} ms, ${rounded(memoryOf(again.child).now)} MiB`,
  );
}

try {
  await measure(readCount({ usual: 100_000, least: 1_000 }));
} finally {
  await stopAll();
}
