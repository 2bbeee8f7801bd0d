/**
 * `npm run bench -- at-size`: what a creation costs, how fast callbacks lead to approved payments, and how much memory the
 * gateway holds, while the store grows; one payment in ten stays open. Then how soon it is ready on that store.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { createPayments } from './http-load.ts';
import {
  type GatewayTarget,
  type Service,
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
/** Where a row is printed, as shares of all payments. */
const steps = [0.01, 0.1, 0.25, 0.5, 1];

function readCount([name, value]: readonly string[]): number {
  if (name === undefined) return 100_000;
  const count = Number(value);
  if (name === '--payments' && Number.isSafeInteger(count) && count >= 1_000) return count;
  process.stderr.write('The only argument is --payments <n>, a whole number of at least 1000.\n');
  process.exit(2);
}

/** Those that are not approved in the read model. */
async function openCount({ url, key }: GatewayTarget): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const { body } = await request(`${url}/api/v1/payments?phase=init&perPage=1&withTotal=true`, { headers });
  const answer = (await body.json()) as { totalCount?: number; total?: number };
  return Number(answer.totalCount ?? answer.total);
}

/** Approves so many at the service, and waits until its callbacks have come to be approved payments. */
async function approve(gateway: GatewayTarget, service: Service, count: number): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: readFileSync(service.caFile, 'utf8') }, headersTimeout: 0 });
  const goal = (await openCount(gateway)) - count;
  const startedAt = performance.now();
  const { body } = await request(`${service.url}/bench/approve`, {
    ...{ method: 'POST', dispatcher, body: JSON.stringify({ count, connections: callbackConnections }) },
  });
  await body.dump();
  await dispatcher.close();
  while ((await openCount(gateway)) > goal) await pause(20);
  return (1_000 * count) / (performance.now() - startedAt);
}

async function measure(payments: number): Promise<void> {
  const service = await startBareService();
  const gateway = await startGateway({ service, name: 'gateway' });
  await createPayments({ ...gateway, connections, durationMs: measuredMs, countMax: payments * 0.005 });
  let made = await openCount(gateway);
  for (const step of steps) {
    const wanted = Math.round(payments * step);
    while (made < wanted) {
      const { count } = await createPayments({
        ...{ ...gateway, connections, durationMs: measuredMs },
        countMax: Math.min(10_000, wanted - made),
      });
      await untilShown(gateway);
      made += count + 1;
    }
    const callbacks = await approve(gateway, service, Math.round((await openCount(gateway)) - 0.1 * made));
    const before = cpuMsOf(gateway.child);
    const { count, perSecond, medianMs, p99Ms } = await createPayments({
      ...{ ...gateway, connections, durationMs: measuredMs },
    });
    await untilShown(gateway);
    made += count + 1;
    const cpuMs = (cpuMsOf(gateway.child) - before) / count;
    const { now } = memoryOf(gateway.child);
    say(
      `${rounded(made)} payments: created, processor`,
      `${rounded(perSecond)}/s, ${cpuMs.toFixed(2)} ms each; p50 / p99 ${medianMs.toFixed(1)} / ${p99Ms.toFixed(1)} ms`,
    );
    say('  callbacks to approved; memory', `${rounded(callbacks)}/s; ${rounded(now)} MiB`);
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
  await measure(readCount(process.argv.slice(2)));
} finally {
  await stopAll();
}
