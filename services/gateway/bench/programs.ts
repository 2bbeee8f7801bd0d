/** Programs of the benches: started, measured from outside, stopped. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { createPayments } from './http-load.ts';

/** Clock ticks per second of the times in /proc. */
const ticksPerSecond = 100;
/** Started like `npm start`. */
const heapMiB = 512;
const nodeOptions = ['--disable-sigusr1', '--max-semi-space-size=16'];
const nodeEnvironment = {
  MALLOC_ARENA_MAX: '2',
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/node-compile-cache'),
};
/** The ledger of the Payment Service of the bench is in its memory. */
const heapOfServiceMiB = 4_096;
const behindMaxMs = 120_000;
const children: ChildProcess[] = [];

/** Files of the programs; deleted after the bench. */
export const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));

interface Started {
  child: ChildProcess;
  output: string;
}

export interface Target extends Started {
  url: string;
  key: string;
}

export interface GatewayTarget extends Target {
  metricsUrl: string;
  callbackUrl: string;
  /** From its start until it reports readiness, milliseconds. */
  readyAfterMs: number;
}

/** A Payment Service of the bench. */
export interface Service {
  url: string;
  caFile: string;
  key: string;
}

interface StartOptions {
  argv?: string[];
  env?: Record<string, string>;
  oldSpaceMiB?: number;
  ready: string;
}

/** Starts a program of the workspace, and resolves when it has printed `ready`. */
export async function start(
  path: string,
  { argv = [], env = {}, oldSpaceMiB = heapMiB, ready }: StartOptions,
): Promise<Started> {
  const options = [...nodeOptions, `--max-old-space-size=${oldSpaceMiB}`];
  const child = spawn(process.execPath, [...options, join(import.meta.dirname, path), ...argv], {
    env: { PATH: process.env['PATH'], ...nodeEnvironment, TOLLGATE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let output = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes(ready)) break;
  }
  // Read its later output as well: a program with a full pipe would block on its last lines.
  child.stdout.resume();
  if (output.includes(ready)) return { child, output };
  throw new Error(`${path} did not start.`);
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** Stops running programs in reverse order, and deletes their files. */
export async function stopAll(): Promise<void> {
  for (const child of children.toReversed()) await stop(child);
  rmSync(folder, { recursive: true, force: true });
}

/** A Payment Service that answers at once. */
export async function startBareService(): Promise<Service> {
  const program = '../../payment-service/bench/bare-service.ts';
  const options = { argv: [join(folder, 'service')], oldSpaceMiB: heapOfServiceMiB, ready: '}\n' };
  const { output } = await start(program, options);
  return JSON.parse(output) as Service;
}

/** The test server for EventStoreDB's protocol. Returns its connection string. */
export async function startTestServer(): Promise<string> {
  const program = '../../../libs/event-store/src/testing/eventstoredb-server/main.ts';
  const { output } = await start(program, { argv: ['--data-dir', join(folder, 'store')], ready: '\n' });
  return output.trim();
}

interface GatewayOptions {
  service: Service;
  /** Data directory in the bench's folder; an existing one is reused. */
  name: string;
  env?: Record<string, string>;
  /** A key issued earlier; absent: a new team and its key. */
  key?: string;
}

/** Environment of a gateway in front of a service, and its data directory. */
function environmentOf({ service, name, env = {} }: GatewayOptions) {
  const dataDir = join(folder, name);
  const accountsFile = join(folder, 'accounts.json');
  const account = {
    name: 'main',
    environment: 'sandbox',
    baseUrl: service.url,
    caFile: service.caFile,
    privateKeyFile: 'sandbox.key',
    concurrentCallsMax: 10_000,
    callsPerSecondMax: 1_000_000,
    concurrentInquiriesMax: 256,
    inquiriesPerSecondMax: 1_000_000,
  };
  writeFileSync(accountsFile, JSON.stringify({ accounts: [account] }));
  writeFileSync(join(folder, account.privateKeyFile), service.key);
  return {
    TOLLGATE_DATA_DIR: dataDir,
    PROVIDER_ACCOUNTS_FILE: accountsFile,
    GATEWAY_PORT: '0',
    CALLBACK_PORT: '0',
    GATEWAY_METRICS_PORT: '0',
    GATEWAY_REQUESTS_PER_SECOND: '100000',
    ...env,
  };
}

interface Quickstart {
  gatewayUrl: string;
  metricsUrl: string;
  callbackUrl: string;
}

const quickstartIn = (dataDir: string): Quickstart =>
  JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')) as Quickstart;

/** All of the gateway in one process, in front of a service. */
export async function startGateway(options: GatewayOptions): Promise<GatewayTarget> {
  const env = environmentOf(options);
  const startedAt = performance.now();
  const started = await start('../src/main.ts', { env, ready: 'Tollgate is ready' });
  const readyAfterMs = performance.now() - startedAt;
  const { gatewayUrl: url, metricsUrl, callbackUrl } = quickstartIn(env.TOLLGATE_DATA_DIR);
  const key = options.key ?? (await issueKey(url, env));
  return { ...started, url, metricsUrl, callbackUrl, key, readyAfterMs };
}

/** A team with a key, by the command line; resolves when the gateway accepts it. */
async function issueKey(url: string, env: Record<string, string>): Promise<string> {
  const cli = join(import.meta.dirname, '../../cli/src/main.ts');
  const tollgate = (...argv: string[]) =>
    execFileSync(process.execPath, [cli, ...argv, '--json'], {
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
    });
  tollgate('team', 'add', 'bench');
  const scopes = ['--environment', 'sandbox', '--scopes', 'payments,refunds,payouts,read,cards,stored-cards'];
  const { key } = JSON.parse(tollgate('key', 'issue', 'bench', ...scopes)) as { key: string };
  for (;;) {
    const headers = { authorization: `Bearer ${key}` };
    const { statusCode, body } = await request(`${url}/api/v1/payments`, { headers });
    await body.dump();
    if (statusCode === 200) return key;
    await pause(50);
  }
}

/** CPU time of a process so far, milliseconds. */
export function cpuMsOf({ pid = 0 }: ChildProcess): number {
  // The name in parentheses may have spaces.
  const times = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return ((Number(times[11]) + Number(times[12])) * 1_000) / ticksPerSecond;
}

/** Memory of a process, MiB: now, and the maximum. */
export function memoryOf({ pid = 0 }: ChildProcess): { now: number; most: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1_024;
  return { now: read('VmRSS'), most: read('VmHWM') };
}

/** Time until all recorded events can be read. @unit milliseconds */
export async function untilShown({ url, key }: Pick<Target, 'url' | 'key'>): Promise<number> {
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

/** Number of payments with a status, from the totals of the last days. */
export async function countByStatus(
  { url, key }: Pick<Target, 'url' | 'key'>,
  status: string,
): Promise<number> {
  const { body } = await request(`${url}/api/v1/totals`, { headers: { authorization: `Bearer ${key}` } });
  const { sums } = (await body.json()) as { sums: { payments: Record<string, { count: number }> }[] };
  return sums.reduce((count, { payments }) => count + (payments[status]?.count ?? 0), 0);
}

/** Number of payments in a phase, in the read model: at most 100,000. */
export async function countOf({ url, key }: Pick<Target, 'url' | 'key'>, phase: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const { body } = await request(`${url}/api/v1/payments?phase=${phase}&perPage=1&withTotal=true`, {
    headers,
  });
  return ((await body.json()) as { totalCount: number }).totalCount;
}

/** The largest of the readings of a gauge. @param text of the metrics */
const gaugeIn = (text: string, name: string): number =>
  Math.max(
    0,
    ...[...text.matchAll(new RegExp(`^${name}\\S* (\\S+)$`, 'gm'))].map(([, value]) => Number(value)),
  );

/**
 * Maximum lag of views and topics during `work`, in seconds. Reading the metrics costs CPU, so it happens once a
 * second.
 */
export async function lagWhile<Result>(
  gateway: Pick<GatewayTarget, 'metricsUrl'>,
  work: () => Promise<Result>,
): Promise<{ result: Result; views: number; topics: number }> {
  const most = { views: 0, topics: 0 };
  const look = async () => {
    const text = await (await request(`${gateway.metricsUrl}/metrics`)).body.text();
    most.topics = Math.max(most.topics, gaugeIn(text, 'tollgate_publisher_lag_seconds'));
    most.views = Math.max(most.views, gaugeIn(text, 'tollgate_read_model_lag_seconds'));
  };
  const watching = setInterval(() => void look().catch(() => undefined), 1_000);
  try {
    return { result: await work(), ...most };
  } finally {
    clearInterval(watching);
  }
}

export const say = (name: string, figure: string) => process.stdout.write(`  ${name.padEnd(46)} ${figure}\n`);
export const rounded = (value: number) => Math.round(value).toLocaleString('en');
export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
