/** One Kafka node, broker and controller in one process, on this machine's loopback. It ends with the process that started it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endOf } from '../run-with-server.ts';
import { CannotContinue, requireGoingOn } from '../stop-with-sentence.ts';
import { type Distribution, findDistribution } from './distribution.ts';
import { servesMetadata } from './metadata-request.ts';
import {
  type SecuredListener,
  secureListener,
  securedFormatArgs,
  securedProperties,
} from './secured-listener.ts';

const readyWithinMs = 120_000;
const endsWithinMs = 60_000;
const pollMs = 250;
const logLinesShown = 20;
/** For a start of few seconds and little load: the first compiler only, one collector thread. */
const jvmOptions = ['-Xms128m', '-Xmx384m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

export interface BrokerOptions {
  dataDir: string;
  port: number;
  /** Port of another listener with TLS and SASL; absent by default. */
  securedPort?: number;
  say: (line: string) => void;
  /** Aborts the start and stops the started processes. */
  signal: AbortSignal;
}

export interface Broker {
  /** Resolves when its process has ended, by itself or stopped. */
  ended: Promise<unknown>;
  /** Kills it if it does not end in time. */
  stop(): Promise<void>;
}

/** Resolves when it serves. @throws CannotContinue */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { dataDir, port, securedPort, say, signal } = options;
  await requireFreePort(port);
  const distribution = await findDistribution(say, signal);
  requireGoingOn(signal);
  makeFolder(dataDir);
  const secured =
    securedPort === undefined ? undefined : secureListener(distribution.java, dataDir, securedPort);
  // Contains the keystore's password.
  const mode = 0o600;
  const controllerPort = await freePort();
  writeFileSync(propertiesFile(dataDir), properties(options, controllerPort, secured), { mode });
  format(distribution, options, secured);
  say(`Starting Kafka on 127.0.0.1:${port} …`);
  const child = launch(distribution, options);
  const ended = endOf(child);
  const broker = { ended, stop: () => stop(child, ended) };
  await untilServing(broker, child, options);
  return broker;
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const insisting = setTimeout(() => child.kill('SIGKILL'), endsWithinMs);
  await ended;
  clearTimeout(insisting);
}

const propertiesFile = (dataDir: string) => join(dataDir, 'server.properties');

function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new CannotContinue(
      `The folder ${dataDir} cannot be used for Kafka's data (${code}): set --data-dir.`,
    );
  }
}

async function requireFreePort(port: number): Promise<void> {
  const problem = await portProblem(port);
  if (problem !== undefined)
    throw new CannotContinue(`Port ${port} cannot be used (${problem}): set --port to one that is free.`);
}

function portProblem(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? 'another process has it' : (error.code ?? error.message)),
    );
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(undefined)));
  });
}

/** A currently free port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

// Little memory, and no wait for further group members. Otherwise Kafka's defaults, so that specs run against them.
const properties = (
  { dataDir, port }: BrokerOptions,
  controllerPort: number,
  secured: SecuredListener | undefined,
) => `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
listeners=PLAINTEXT://127.0.0.1:${port}${securedAddress(secured)},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}${securedAddress(secured)}
log.dirs=${join(dataDir, 'log')}
log.cleaner.dedupe.buffer.size=16777216
log.cleaner.backoff.ms=1000
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
${secured === undefined ? '' : securedProperties(secured)}`;

const securedAddress = (secured: SecuredListener | undefined) =>
  secured === undefined ? '' : `,SASL_SSL://127.0.0.1:${secured.port}`;

function format(
  { java, classPath }: Distribution,
  { dataDir, say }: BrokerOptions,
  secured: SecuredListener | undefined,
): void {
  if (existsSync(join(dataDir, 'log', 'meta.properties'))) return;
  say(`Formatting the storage in ${dataDir} …`);
  const id = randomBytes(16).toString('base64url');
  const { status, stdout, stderr } = spawnSync(
    java,
    [
      ...jvmOptions,
      '-cp',
      classPath,
      'kafka.tools.StorageTool',
      'format',
      `--cluster-id=${id}`,
      '-c',
      propertiesFile(dataDir),
      ...(secured === undefined ? [] : securedFormatArgs(secured)),
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0)
    throw new CannotContinue(
      `The storage in ${dataDir} could not be formatted.\n${lastLines(stdout + stderr)}`,
    );
}

const logFile = (dataDir: string) => join(dataDir, 'server.log');

/** Its output goes to its log. */
function launch({ java, classPath }: Distribution, { dataDir }: BrokerOptions): ChildProcess {
  const log = openSync(logFile(dataDir), 'w');
  const logging = [
    '-Dorg.slf4j.simpleLogger.showDateTime=true',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=info',
  ];
  const args = [...jvmOptions, ...logging, '-cp', classPath, 'kafka.Kafka', propertiesFile(dataDir)];
  const child = spawn(java, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  writeFileSync(join(dataDir, 'kafka.pid'), String(child.pid));
  return child;
}

async function untilServing(
  broker: Broker,
  child: ChildProcess,
  { dataDir, port, signal }: BrokerOptions,
): Promise<void> {
  const until = performance.now() + readyWithinMs;
  while (!(await servesMetadata(port))) {
    const isGone = child.exitCode !== null || child.signalCode !== null;
    if (!signal.aborted && !isGone && performance.now() < until) {
      await delay(pollMs);
      continue;
    }
    await broker.stop();
    requireGoingOn(signal);
    const what = isGone ? 'ended while it was starting' : `did not serve within ${readyWithinMs / 1_000} s`;
    const log = lastLines(readFileSync(logFile(dataDir), 'utf8'));
    throw new CannotContinue(`Kafka ${what}; ${logFile(dataDir)} ends with:\n${log}`);
  }
}

const lastLines = (text: string) => text.trimEnd().split('\n').slice(-logLinesShown).join('\n');
