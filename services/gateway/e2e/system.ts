/** Starts the system in its arrangement, as their own processes, and drives it from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programEnvironment } from '@tollgate/testing';
import { Agent, request } from 'undici';
import type { z } from 'zod';
import { type Customer, createCustomer } from '@tollgate/payment-service/customer';
import { quickstartSchema } from '../src/configuration/data-directory.ts';
import { type Beside, issueKey, tollgate } from './commands.ts';
import { launcher, program, stopStores, storesOf } from './arrangement.ts';
import { freePorts } from './free-ports.ts';

const readyWithinMs = 120_000;

/** A payment, payout or dispute as the tests see it. */
interface PaymentView {
  token: string;
  status: string;
  phase: string;
  orderNumber: string;
  processingUrl: string;
  recurringToken: string;
  refundedAmount: number;
  refunds: { amount: number; phase: string }[];
}

interface WebhookView {
  id: string;
  state: string;
  /** Absent for the callbackUrl of the payment. */
  endpoint?: string;
  body: { status: string };
  deliveries: object[];
}

interface ReviewView {
  token: string;
  code: string;
  number: number;
  evidence: { sumUnknown?: string };
}

/** The fields of any answer, assumed to exist: a test that reads a missing one fails. */
interface Body extends PaymentView {
  success: boolean;
  payment: PaymentView;
  payout: PaymentView;
  payments: PaymentView[];
  payouts: PaymentView[];
  dispute: { id: string };
  disputes: PaymentView[];
  reviews: ReviewView[];
  reconciliations: PaymentView[];
  events: { type: string; at: string; cause: { correlationId: string } }[];
  webhooks: WebhookView[];
  endpoint: { id: string };
  request: { providerMs: number; durationMs: number };
  credentials: { id: string }[];
  hasFile: boolean;
  errors: { code: string; parameter?: string }[];
  ready: boolean;
  degraded: string[];
  /** Of the sandbox's ledger. */
  calls: { token?: string; orderNumber?: string }[];
  callbacks: { state: string; tries: number }[];
}

export interface Answer {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
}

const sandboxQuickstartSchema = quickstartSchema.required();
/** Of a gateway that has started its sandbox. */
type SandboxQuickstart = z.infer<typeof sandboxQuickstartSchema>;

export interface System {
  dataDir: string;
  /** Environment by which commands find the system's data. */
  env: Record<string, string>;
  quickstart: SandboxQuickstart;
  /** Calls the gateway as the demo team. */
  gateway: CallGateway;
  /** Calls the gateway with another key. */
  gatewayAs(key: string): CallGateway;
  /** Calls the Payment Service with the gateway's own key, for the sandbox controls and the ledger. */
  sandbox: CallSandbox;
  customer: Customer;
  /** The metrics of all its processes, one after the other. */
  metrics(): Promise<string>;
  /** All output so far. */
  output(): string;
  /** Sends SIGKILL to all of its processes, and resolves when they have ended. */
  kill(): Promise<void>;
  /** SIGTERM, then resolves with the exit code. */
  terminate(): Promise<number | null>;
  /** The workspace of its release, if it is not this one. */
  workspace: string | undefined;
  /** Starts again on the same data and ports. */
  restart(): Promise<System>;
  /** Starts another gateway on the same data, in front of the same sandbox. */
  startBeside(instance: string, env?: Record<string, string>): Promise<System>;
}

/** The interface that load and comparisons need, for any arrangement. */
export type ReachedSystem = Pick<System, 'gateway' | 'sandbox'>;

interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
}

export type CallGateway = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  options?: CallOptions,
) => Promise<Answer>;
export type CallSandbox = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<Answer>;

export interface StartOptions {
  dataDir: string;
  env: Record<string, string>;
  /** Variables for its event store and bus. @default those of the arrangement */
  stores?: Record<string, string>;
  /** Processes of each service. @default those of the arrangement */
  instances?: number;
  /** Workspace of the release to run, as one process. @default this one, in its arrangement */
  workspace?: string;
  /** The system whose sandbox this gateway calls, if its accounts are in a file. */
  inFrontOf?: System;
}

/** Removes the leftovers of tests; call it when a suite ends. */
export async function stopEverything(): Promise<void> {
  await Promise.all([...running].map(kill));
  await stopStores();
  for (const dataDir of dataDirs) rmSync(dataDir, { recursive: true, force: true });
}

interface Running {
  child: ChildProcess;
  /** File in which a system of several processes lists their ids. */
  listFile: string;
}

const running = new Set<Running>();
const dataDirs = new Set<string>();

export function newDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-e2e-'));
  dataDirs.add(dataDir);
  return dataDir;
}

/** Runs the program and returns its process and output. */
function spawnMain({ dataDir, env, instances, workspace }: StartOptions): {
  main: Running;
  output: () => string;
} {
  const single = workspace === undefined ? program : join(workspace, 'services', 'gateway', 'src', 'main.ts');
  const argv = instances === undefined ? [single] : [launcher, String(instances)];
  const child = spawn(process.execPath, argv, {
    env: { ...programEnvironment(), TOLLGATE_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const instance = env['TOLLGATE_INSTANCE'];
  const listName = instance === undefined ? 'processes.json' : `processes-${instance}.json`;
  const main = { child, listFile: join(dataDir, listName) };
  running.add(main);
  child.once('exit', () => running.delete(main));
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  return { main, output: () => output };
}

export async function startSystem(options?: Partial<StartOptions>): Promise<System> {
  const dataDir = options?.dataDir ?? newDataDir();
  const stores = options?.stores ?? (await storesOf(dataDir));
  const env = { ...(await freePorts()), ...stores, ...options?.env };
  const { main, output } = spawnMain({ ...options, dataDir, env });
  await untilReady(main.child, output).catch(async (error: unknown) => {
    await kill(main);
    throw error;
  });
  const own = readQuickstart(dataDir, env['TOLLGATE_INSTANCE']);
  const beside = { env: { ...env, TOLLGATE_DATA_DIR: dataDir }, workspace: options?.workspace };
  const apiKey = 'apiKey' in own ? {} : { apiKey: await issuedKey(dataDir, beside) };
  const quickstart = sandboxQuickstartSchema.parse({ ...options?.inFrontOf?.quickstart, ...own, ...apiKey });
  const gatewayAs =
    (key: string): CallGateway =>
    (method, path, call) =>
      callJson(`${quickstart.gatewayUrl}${path}`, method, key, call);
  return {
    dataDir,
    env: { ...stores, TOLLGATE_DATA_DIR: dataDir },
    quickstart,
    gateway: gatewayAs(quickstart.apiKey),
    gatewayAs,
    ...sandboxOf(quickstart),
    metrics: () => metricsOf(quickstart.metricsUrl, listed(main.listFile)),
    output,
    kill: () => kill(main),
    terminate: () => terminate(main.child),
    workspace: options?.workspace,
    restart: () => startSystem({ ...options, dataDir, env }),
    startBeside: (instance, more) =>
      startSystem({ dataDir, env: { ...env, ...more, ...besideEnv(dataDir, quickstart, instance) } }),
  };
}

/** By data directory. */
const issuedKeys = new Map<string, Promise<string>>();

/** Key of a team in a gateway with accounts of its own, which has no demo team. */
function issuedKey(dataDir: string, beside: Beside): Promise<string> {
  const issue = async () => {
    const key = await issueKey(beside, 'demo', 'payments,refunds,payouts,read,admin');
    await tollgate(beside, 'team', 'allow-origins', 'demo', '--callback', 'http://127.0.0.1:*');
    return key;
  };
  const known = issuedKeys.get(dataDir) ?? issue();
  issuedKeys.set(dataDir, known);
  return known;
}

/** The first start's quickstart file, overridden by this instance's: further instances have no sandbox. */
function readQuickstart(dataDir: string, instance: string | undefined): object {
  const names = ['quickstart.json', ...(instance === undefined ? [] : [`quickstart-${instance}.json`])];
  const files = names.map((name) => join(dataDir, name)).filter((file) => existsSync(file));
  const read = (file: string): object => JSON.parse(readFileSync(file, 'utf8')) as object;
  return Object.assign({}, ...files.map(read)) as object;
}

/** Writes the account of another gateway's sandbox to a file, like a production gateway's accounts. */
export function besideEnv(
  dataDir: string,
  quickstart: SandboxQuickstart,
  instance: string,
): Record<string, string> {
  const account = {
    name: 'sandbox',
    environment: 'sandbox',
    baseUrl: quickstart.paymentServiceUrl,
    privateKeyFile: `accounts-${instance}.key`,
    caFile: quickstart.caFile,
    failuresInARowMax: 1_000,
  };
  const accountsFile = join(dataDir, `accounts-${instance}.json`);
  writeFileSync(accountsFile, JSON.stringify({ accounts: [account] }));
  writeFileSync(join(dataDir, account.privateKeyFile), quickstart.paymentServiceKey);
  return {
    TOLLGATE_INSTANCE: instance,
    PROVIDER_ACCOUNTS_FILE: accountsFile,
    GATEWAY_PORT: '0',
    CALLBACK_PORT: '0',
    GATEWAY_METRICS_PORT: '0',
    // One address for all, like a load balancer: callbacks for this one's payments go to any running gateway.
    CALLBACK_PUBLIC_URL: quickstart.callbackUrl,
  };
}

function sandboxOf(quickstart: SandboxQuickstart): Pick<System, 'sandbox' | 'customer'> {
  const ca = readFileSync(quickstart.caFile, 'utf8');
  const { paymentServiceUrl, paymentServiceKey } = quickstart;
  return {
    customer: createCustomer(ca),
    sandbox: (method, path, body) =>
      callJson(
        `${paymentServiceUrl}${path}`,
        method,
        paymentServiceKey,
        body === undefined ? {} : { body },
        ca,
      ),
  };
}

export async function callJson(
  url: string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  key: string,
  { body, headers }: CallOptions = {},
  ca?: string,
): Promise<Answer> {
  const dispatcher = ca === undefined ? {} : { dispatcher: agentFor(ca) };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const contentType = body === undefined ? {} : { 'content-type': 'application/json' };
  const all = { authorization: `Bearer ${key}`, ...contentType, ...headers };
  const response = await request(url, { method, headers: all, ...sent, ...dispatcher });
  const text = await response.body.text();
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return {
    statusCode: response.statusCode,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

const agents = new Map<string, Agent>();
function agentFor(ca: string): Agent {
  const agent = agents.get(ca) ?? new Agent({ connect: { ca } });
  agents.set(ca, agent);
  return agent;
}

async function untilReady(child: ChildProcess, output: () => string): Promise<void> {
  const giveUpAt = Date.now() + readyWithinMs;
  while (!/Tollgate (is ready|runs)/.test(output())) {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Error(`the system ended with ${end}: ${output()}`);
    if (Date.now() > giveUpAt) throw new Error(`the system was not ready in time: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

/** The parent process first: otherwise it would restart the others. */
async function kill({ child, listFile }: Running): Promise<void> {
  const gone = exited(child);
  child.kill('SIGKILL');
  await gone;
  const others = listed(listFile).map(({ pid }) => pid);
  for (const pid of others) signal(pid, 'SIGKILL');
  while (others.some((pid) => signal(pid, 0))) await new Promise((resolve) => setTimeout(resolve, 5));
}

interface Listed {
  service: string;
  pid: number;
  metricsPort: number;
}

/** The processes of a system that has several. */
function listed(listFile: string): readonly Listed[] {
  return existsSync(listFile) ? (JSON.parse(readFileSync(listFile, 'utf8')) as Listed[]) : [];
}

async function metricsOf(metricsUrl: string, processes: readonly Listed[]): Promise<string> {
  const services = processes.filter(({ service }) => service !== 'payment-service');
  const urls =
    services.length === 0
      ? [metricsUrl]
      : services.map(({ metricsPort }) => `http://127.0.0.1:${metricsPort}`);
  const texts = urls.map(async (url) => (await request(`${url}/metrics`)).body.text());
  return (await Promise.all(texts)).join('\n');
}

/** False if there is no such process. */
function signal(pid: number, name: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

async function terminate(child: ChildProcess): Promise<number | null> {
  const gone = exited(child);
  child.kill('SIGTERM');
  return gone;
}

/** The outcome of a start that must fail. */
export async function startRefused(
  options: StartOptions,
): Promise<{ exitCode: number | null; output: string }> {
  const { main, output } = spawnMain(options);
  const exitCode = await exited(main.child);
  return { exitCode, output: output() };
}
