/** Starts the system as `npm start` does, as a process of its own, and drives it from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import type { z } from 'zod';
import { type Customer, createCustomer } from '../src/customer.ts';
import { quickstartSchema } from '../src/data-directory.ts';
import { freePorts } from './free-ports.ts';

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const readyWithinMs = 60_000;

/** A payment as the tests look at it. */
export interface PaymentView {
  token: string;
  status: string;
  phase: string;
  orderNumber: string;
  processingUrl: string;
}

/**
 * Everything that any answer may hold, taken for granted: a test that reads what is not there fails by that.
 */
export interface Body extends PaymentView {
  success: boolean;
  payment: PaymentView;
  payments: PaymentView[];
  events: { type: string }[];
  errors: { code: string; parameter?: string }[];
  calls: unknown[];
}

export interface Answer {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
}

const sandboxQuickstartSchema = quickstartSchema.required();
/** Of a gateway that has brought its sandbox up. */
type SandboxQuickstart = z.infer<typeof sandboxQuickstartSchema>;

export interface System {
  dataDir: string;
  quickstart: SandboxQuickstart;
  /** Calls the gateway as the demo team. */
  gateway: CallGateway;
  /** Calls the gateway with another key. */
  gatewayAs(key: string): CallGateway;
  /** Calls the Payment Service with the gateway's own key, for the sandbox controls and the ledger. */
  sandbox: CallSandbox;
  /** Calls the Payment Service with the key of another of its merchants. */
  sandboxAs(key: string): CallSandbox;
  customer: Customer;
  /** Everything that the process has printed. */
  output(): string;
  /** SIGKILL, then resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM, then resolves with the exit code. */
  terminate(): Promise<number | null>;
  /** Starts again on the same data and ports. */
  restart(): Promise<System>;
  /** Starts another gateway on the same data, in front of the same sandbox. */
  startBeside(instance: string, env?: Record<string, string>): Promise<System>;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
}

export type CallGateway = (method: 'GET' | 'POST', path: string, options?: CallOptions) => Promise<Answer>;
export type CallSandbox = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<Answer>;

export interface StartOptions {
  dataDir: string;
  env: Record<string, string>;
  /** Whose sandbox this gateway calls, where it has accounts of a file and so none of its own. */
  inFrontOf?: System;
}

/** Removes what tests have left behind; call it when a suite ends. */
export async function stopEverything(): Promise<void> {
  await Promise.all([...running].map(kill));
  for (const dataDir of dataDirs) rmSync(dataDir, { recursive: true, force: true });
}

const running = new Set<ChildProcess>();
const dataDirs = new Set<string>();

export function newDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-e2e-'));
  dataDirs.add(dataDir);
  return dataDir;
}

/** Runs `main.ts` and gives the process and what it prints. */
export function spawnMain({ dataDir, env }: StartOptions): { child: ChildProcess; output: () => string } {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(PATH|HOME|TMPDIR)$/.test(name)),
  );
  const child = spawn(process.execPath, [mainFile], {
    env: { ...inherited, TOLLGATE_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  return { child, output: () => output };
}

export async function startSystem(options?: Partial<StartOptions>): Promise<System> {
  const dataDir = options?.dataDir ?? newDataDir();
  const env = { ...(await freePorts()), ...options?.env };
  const { child, output } = spawnMain({ dataDir, env });
  await untilReady(child, output);
  const own = readQuickstart(dataDir, env['TOLLGATE_INSTANCE']);
  const quickstart = sandboxQuickstartSchema.parse({ ...options?.inFrontOf?.quickstart, ...own });
  const gatewayAs =
    (key: string): CallGateway =>
    (method, path, call) =>
      callJson(`${quickstart.gatewayUrl}${path}`, method, key, call);
  return {
    dataDir,
    quickstart,
    gateway: gatewayAs(quickstart.apiKey),
    gatewayAs,
    ...sandboxOf(quickstart),
    output,
    kill: () => kill(child),
    terminate: () => terminate(child),
    restart: () => startSystem({ ...options, dataDir, env }),
    startBeside: (instance, more) =>
      startSystem({ dataDir, env: { ...env, ...more, ...besideEnv(dataDir, quickstart, instance) } }),
  };
}

/** What the first start has told, with what this instance has told over it: a further one has no sandbox of its own. */
function readQuickstart(dataDir: string, instance: string | undefined): object {
  const names = ['quickstart.json', ...(instance === undefined ? [] : [`quickstart-${instance}.json`])];
  const read = (name: string): object => JSON.parse(readFileSync(join(dataDir, name), 'utf8')) as object;
  return Object.assign({}, ...names.map(read)) as object;
}

/** The account of the first gateway's sandbox in a file, as a gateway in production has its accounts. */
function besideEnv(dataDir: string, quickstart: SandboxQuickstart, instance: string): Record<string, string> {
  const account = {
    ...{ name: 'sandbox', environment: 'sandbox', baseUrl: quickstart.paymentServiceUrl },
    ...{ privateKeyEnv: 'SANDBOX_KEY', caFile: quickstart.caFile, failuresInARowMax: 1_000 },
  };
  const accountsFile = join(dataDir, `accounts-${instance}.json`);
  writeFileSync(accountsFile, JSON.stringify({ accounts: [account] }));
  return {
    ...{ TOLLGATE_INSTANCE: instance, PROVIDER_ACCOUNTS_FILE: accountsFile },
    ...{ SANDBOX_KEY: quickstart.paymentServiceKey, GATEWAY_PORT: '0', CALLBACK_PORT: '0' },
    // One address for all, as that of a load balancer is: what this one created is told to whoever is there.
    CALLBACK_PUBLIC_URL: quickstart.callbackUrl,
  };
}

function sandboxOf(quickstart: SandboxQuickstart): Pick<System, 'sandbox' | 'sandboxAs' | 'customer'> {
  const ca = readFileSync(quickstart.caFile, 'utf8');
  const { paymentServiceUrl, paymentServiceKey } = quickstart;
  const sandboxAs =
    (key: string): CallSandbox =>
    (method, path, body) =>
      callJson(`${paymentServiceUrl}${path}`, method, key, body === undefined ? {} : { body }, ca);
  return { customer: createCustomer(ca), sandbox: sandboxAs(paymentServiceKey), sandboxAs };
}

async function callJson(
  url: string,
  method: 'GET' | 'POST' | 'DELETE',
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
  while (!output().includes('Tollgate is ready')) {
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

async function kill(child: ChildProcess): Promise<void> {
  const gone = exited(child);
  child.kill('SIGKILL');
  await gone;
}

async function terminate(child: ChildProcess): Promise<number | null> {
  const gone = exited(child);
  child.kill('SIGTERM');
  return gone;
}

/** How a start that must fail has ended. */
export async function startRefused(
  options: StartOptions,
): Promise<{ exitCode: number | null; output: string }> {
  const { child, output } = spawnMain(options);
  const exitCode = await exited(child);
  return { exitCode, output: output() };
}
