/**
 * `npm run bench -- eventstoredb`: how far views and topics are behind after a minute at a steady rate on EventStoreDB, what
 * that costs, and a rebuild. The server is the test server, in a process of its own, or the one at 127.0.0.1 that
 * EVENTSTORE_URL names: a real one has other rates, but the calls and the processor time of our process are the same.
 */
import { parseConnectionString } from '@tollgate/event-store';
import { createEventStoreDbStore } from '@tollgate/event-store/eventstoredb';
import { rebuild } from '@tollgate/projector';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';
import { createPayments } from './http-load.ts';
import {
  type GatewayTarget,
  cpuMsOf,
  lagWhile,
  rounded,
  say,
  startBareService,
  startGateway,
  startTestServer,
  stop,
  stopAll,
  untilShown,
} from './programs.ts';

const connections = 32;

/** So many payments are created at the steady rate. */
const steadyPerSecond = 250;

async function measureSteadily(gateway: GatewayTarget, payments: number): Promise<void> {
  const before = cpuMsOf(gateway.child);
  const durationMs = (1_000 * payments) / steadyPerSecond;
  const load = { url: gateway.url, key: gateway.key, connections, durationMs, perSecondMax: steadyPerSecond };
  const { result, views, topics } = await lagWhile(gateway, () => createPayments(load));
  const { count, perSecond, medianMs, p99Ms } = result;
  const shownMs = await untilShown(gateway);
  const cpuMs = (cpuMsOf(gateway.child) - before) / count;
  say(
    `${rounded(payments)} payments at ${steadyPerSecond}/s: created`,
    `${rounded(perSecond)}/s, p50 / p99 ${medianMs.toFixed(1)} / ${p99Ms.toFixed(1)} ms`,
  );
  say('  processor', `${cpuMs.toFixed(2)} ms a creation, views and topics included`);
  say('  the last one is readable after', `${rounded(shownMs)} ms`);
  say('  views and topics behind, at the most', `${views.toFixed(1)} s, ${topics.toFixed(1)} s`);
}

async function measureRebuild(storeUrl: string): Promise<void> {
  const { hosts, discovers } = parseConnectionString(storeUrl, 'EVENTSTORE_URL');
  const parts = { clock: systemClock, ids: systemIds, log: silentLog };
  const store = await createEventStoreDbStore({ ...parts, connection: { hosts, discovers, tls: false } });
  const cpuBefore = process.cpuUsage();
  const begunAt = performance.now();
  const { eventsRead } = await rebuild({
    ...{ store, ...parts, signal: new AbortController().signal },
  });
  const seconds = (performance.now() - begunAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await store.close();
  const cpu = ((user + system) / eventsRead).toFixed(0);
  say(
    'rebuild',
    `${rounded(eventsRead / seconds)} events/s (${rounded(eventsRead)} events), ${cpu} µs of the processor for each`,
  );
}

try {
  const payments = readCount({ usual: 15_000, least: 100 });
  const storeUrl = process.env['EVENTSTORE_URL'] ?? (await startTestServer());
  const service = await startBareService();
  const gateway = await startGateway({ service, name: 'gateway', env: { EVENTSTORE_URL: storeUrl } });
  await measureSteadily(gateway, payments);
  await stop(gateway.child);
  await measureRebuild(storeUrl);
} finally {
  await stopAll();
}
