/**
 * `npm run bench -- eventstoredb`: creations on EventStoreDB beside a bare chain on the same server, the processor time of
 * ours, how far views and topics are behind after a minute at a steady rate, and a rebuild. The server is the test server, in
 * a process of its own, or the one at 127.0.0.1 that EVENTSTORE_URL names: a real one has other rates, but the calls and the
 * processor time of our process are the same.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEventStoreDbStore, parseConnectionString } from '@tollgate/event-store';
import { rebuild } from '@tollgate/projector';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { request } from 'undici';
import { createPayments } from './http-load.ts';

const roundMs = 10_000;
const connectionCounts = [1, 32, 128];
const connectionsAtSteadyRate = 32;
/** Of the times in /proc, per second. */
const ticksPerSecond = 100;
const behindMaxMs = 120_000;

/** So many payments are created at the steady rate. */
function readCount([name, value]: readonly string[]): number {
  if (name === undefined) return 15_000;
  const count = Number(value);
  if (name === '--payments' && Number.isSafeInteger(count) && count >= 100) return count;
  process.stderr.write('The only argument is --payments <n>, a whole number of at least 100.\n');
  process.exit(2);
}

const steadyPerSecond = 250;
const say = (name: string, figure: string) => process.stdout.write(`  ${name.padEnd(46)} ${figure}\n`);
const rounded = (value: number) => Math.round(value).toLocaleString('en');
const programAt = (path: string) => join(import.meta.dirname, path);

const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
const children: ChildProcess[] = [];

interface Started {
  child: ChildProcess;
  output: string;
}

/** Starts a program, and resolves when it has printed `ready`. */
async function start(
  path: string,
  { argv = [], env = {}, ready }: { argv?: string[]; env?: Record<string, string>; ready: string },
): Promise<Started> {
  const child = spawn(process.execPath, [programAt(path), ...argv], {
    env: { PATH: process.env['PATH'], TOLLGATE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes(ready)) return { child, output };
  }
  throw new Error(`${path} did not start.`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** Processor time of a process so far, milliseconds. */
function cpuMsOf({ pid = 0 }: ChildProcess): number {
  const times = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(times[11]) + Number(times[12])) * 1_000) / ticksPerSecond;
}

interface Target extends Started {
  url: string;
  key: string;
}

async function startSandbox(): Promise<{ url: string; caFile: string; key: string }> {
  const ports = { PAYMENT_SERVICE_HTTPS_PORT: '0', PAYMENT_SERVICE_HTTP_PORT: '0' };
  const { output } = await start('../../payment-service/src/main.ts', {
    env: { ...ports, TOLLGATE_DATA_DIR: join(folder, 'sandbox') },
    ready: 'curl --cacert',
  });
  const found = (name: string) => new RegExp(`${name} +(\\S+)`).exec(output)?.[1] ?? '';
  return { url: found('HTTPS'), caFile: found('CA'), key: found('key') };
}

async function startGateway(storeUrl: string, sandbox: { url: string; caFile: string }, sandboxKey: string) {
  const dataDir = join(folder, 'gateway');
  const accountsFile = join(folder, 'accounts.json');
  const account = {
    ...{ name: 'main', environment: 'sandbox', baseUrl: sandbox.url, caFile: sandbox.caFile },
    ...{ privateKeyEnv: 'SANDBOX_KEY', concurrentCallsMax: 10_000, callsPerSecondMax: 1_000_000 },
  };
  writeFileSync(accountsFile, JSON.stringify({ accounts: [account] }));
  const started = await start('../src/main.ts', {
    env: {
      ...{ EVENTSTORE_URL: storeUrl, TOLLGATE_DATA_DIR: dataDir, PROVIDER_ACCOUNTS_FILE: accountsFile },
      ...{ SANDBOX_KEY: sandboxKey, GATEWAY_PORT: '0', CALLBACK_PORT: '0' },
    },
    ready: 'Tollgate is ready',
  });
  const quickstart = JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')) as {
    gatewayUrl: string;
    metricsUrl: string;
    apiKey: string;
  };
  const { gatewayUrl: url, metricsUrl, apiKey: key } = quickstart;
  return { ...started, url, metricsUrl, key };
}

/** Of the second half: the first one warms up. */
async function measureCreations(target: Target, connections: number) {
  await createPayments({ ...target, connections, durationMs: roundMs / 4 });
  const before = cpuMsOf(target.child);
  const { perSecond, medianMs, p99Ms } = await createPayments({
    ...target,
    connections,
    durationMs: roundMs,
  });
  const cpuMs = (cpuMsOf(target.child) - before) / (perSecond * (roundMs / 1_000));
  return { perSecond, medianMs, p99Ms, cpuMs };
}

async function compare(gateway: Target, bare: Target): Promise<void> {
  for (const connections of connectionCounts) {
    const chain = await measureCreations(bare, connections);
    const ours = await measureCreations(gateway, connections);
    await untilShown(gateway);
    const share = (ours.perSecond / chain.perSecond).toFixed(2);
    say(
      `${connections} connections: creations, bare chain, share`,
      `${rounded(ours.perSecond)}/s, ${rounded(chain.perSecond)}/s, ${share}`,
    );
    say(
      '  p50 / p99; processor, bare chain',
      `${ours.medianMs.toFixed(1)} / ${ours.p99Ms.toFixed(1)} ms; ${ours.cpuMs.toFixed(2)}, ${chain.cpuMs.toFixed(2)} ms a creation`,
    );
  }
}

/** Until everything that was recorded can be read, milliseconds. */
async function untilShown({ url, key }: Pick<Target, 'url' | 'key'>): Promise<number> {
  const startedAt = performance.now();
  const { lastAnswer } = await createPayments({ url, key, connections: 1, durationMs: 1 });
  const position = /^tollgate-position: (\S+)/im.exec(lastAnswer)?.[1] ?? '';
  const token = /"token":"(pay_[^"]+)"/.exec(lastAnswer)?.[1];
  for (;;) {
    const headers = { authorization: `Bearer ${key}`, 'tollgate-min-position': position };
    const { statusCode, body } = await request(`${url}/api/v1/payments/${token}`, { headers });
    await body.dump();
    const tookMs = performance.now() - startedAt;
    if (statusCode === 200) return tookMs;
    if (statusCode !== 503 || tookMs > behindMaxMs) throw new Error(`A read was answered ${statusCode}.`);
  }
}

/** Seconds; the largest of the readings of a gauge. */
async function gauge(url: string, name: string): Promise<number> {
  const text = await (await request(`${url}/metrics`)).body.text();
  return Math.max(
    0,
    ...[...text.matchAll(new RegExp(`^${name}\\S* (\\S+)$`, 'gm'))].map(([, value]) => Number(value)),
  );
}

async function measureSteadily(gateway: Target & { metricsUrl: string }, payments: number): Promise<void> {
  const before = cpuMsOf(gateway.child);
  const durationMs = (1_000 * payments) / steadyPerSecond;
  const readings = { views: 0, topics: 0 };
  const watching = setInterval(() => {
    void gauge(gateway.metricsUrl, 'tollgate_publisher_lag_seconds').then(
      (seconds) => (readings.topics = Math.max(readings.topics, seconds)),
    );
    void gauge(gateway.metricsUrl, 'tollgate_read_model_lag_seconds').then(
      (seconds) => (readings.views = Math.max(readings.views, seconds)),
    );
  }, 1_000);
  const { perSecond, medianMs, p99Ms } = await createPayments({
    ...{ url: gateway.url, key: gateway.key, connections: connectionsAtSteadyRate },
    ...{ durationMs, perSecondMax: steadyPerSecond },
  });
  clearInterval(watching);
  const shownMs = await untilShown(gateway);
  const cpuMs = (cpuMsOf(gateway.child) - before) / (perSecond * (durationMs / 1_000));
  say(
    `${rounded(payments)} payments at ${steadyPerSecond}/s: created`,
    `${rounded(perSecond)}/s, p50 / p99 ${medianMs.toFixed(1)} / ${p99Ms.toFixed(1)} ms`,
  );
  say('  processor', `${cpuMs.toFixed(2)} ms a creation, views and topics included`);
  say('  the last one is readable after', `${rounded(shownMs)} ms`);
  say(
    '  views and topics behind, at the most',
    `${readings.views.toFixed(1)} s, ${readings.topics.toFixed(1)} s`,
  );
}

async function measureRebuild(storeUrl: string): Promise<void> {
  const { hosts, discovers } = parseConnectionString(storeUrl, 'EVENTSTORE_URL');
  const parts = { clock: systemClock, ids: systemIds, log: silentLog };
  const store = await createEventStoreDbStore({ ...parts, connection: { hosts, discovers, tls: false } });
  const cpuBefore = process.cpuUsage();
  const begunAt = performance.now();
  const outcome = await rebuild({
    ...{ store, ...parts, holder: 'bench', isGone: () => true, signal: new AbortController().signal },
  });
  const seconds = (performance.now() - begunAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await store.close();
  if (outcome.kind !== 'switched') throw new Error(`the rebuild was ${outcome.kind}`);
  const { eventsRead } = outcome;
  const cpu = ((user + system) / eventsRead).toFixed(0);
  say(
    'rebuild',
    `${rounded(eventsRead / seconds)} events/s (${rounded(eventsRead)} events), ${cpu} µs of the processor for each`,
  );
}

async function measure(payments: number): Promise<void> {
  const named = process.env['EVENTSTORE_URL'];
  const storeUrl = named ?? (await startTestServer());
  const sandbox = await startSandbox();
  const storePort = parseConnectionString(storeUrl, 'EVENTSTORE_URL').hosts[0]?.port;
  const bareStarted = await start('bare-chain.ts', {
    argv: [JSON.stringify({ ...sandbox, storePort })],
    ready: '\n',
  });
  const bare = { ...bareStarted, url: bareStarted.output.trim(), key: 'none' };
  const gateway = await startGateway(storeUrl, sandbox, sandbox.key);
  await compare(gateway, bare);
  await stop(bare.child);
  await measureSteadily(gateway, payments);
  await stop(gateway.child);
  await measureRebuild(storeUrl);
}

async function startTestServer(): Promise<string> {
  const program = '../../../libs/event-store/src/testing/eventstoredb-server/main.ts';
  const { output } = await start(program, { argv: ['--data-dir', join(folder, 'store')], ready: '\n' });
  return output.trim();
}

try {
  await measure(readCount(process.argv.slice(2)));
} finally {
  await Promise.all(children.map(stop));
  rmSync(folder, { recursive: true, force: true });
}
