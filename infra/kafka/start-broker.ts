/** One Kafka node, broker and controller in one process, on this machine's loopback. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type BrokerProcess,
  findBroker,
  propertiesFile,
  removePidFile,
  stopBroker,
  writePidFile,
} from './broker-process.ts';
import { portDefault } from './command-line.ts';
import { type Distribution, findDistribution } from './distribution.ts';
import { servesMetadata } from './metadata-request.ts';
import {
  type SecuredListener,
  secureListener,
  securedFormatArgs,
  securedProperties,
} from './secured-listener.ts';
import { CannotContinue, requireGoingOn } from '../stop-with-sentence.ts';

const readyWithinMs = 120_000;
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
  signal?: AbortSignal;
}

/** Starts a broker, or returns the one running on this data. @throws CannotContinue */
export async function startBroker(options: BrokerOptions): Promise<BrokerProcess & { wasUp: boolean }> {
  const { dataDir, port, say } = options;
  const running = findBroker(dataDir);
  if (running !== undefined) return { ...(await requireServing(running, options)), wasUp: true };
  removePidFile(dataDir);
  await requireFreePort(port);
  const distribution = await findDistribution(say, options.signal);
  requireGoingOn(options.signal);
  makeFolder(dataDir);
  const { securedPort } = options;
  const secured =
    securedPort === undefined ? undefined : secureListener(distribution.java, dataDir, securedPort);
  // Contains the keystore's password.
  const mode = 0o600;
  writeFileSync(propertiesFile(dataDir), properties(options, await freePort(), secured), { mode });
  format(distribution, options, secured);
  say(`Starting Kafka on 127.0.0.1:${port} …`);
  const pid = launch(distribution, options);
  try {
    writePidFile(dataDir, { pid, port });
  } catch (error) {
    process.kill(pid, 'SIGKILL');
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CannotContinue(`Another start is under way on the data in ${dataDir}.`);
  }
  await waitUntilServing(pid, options);
  return { pid, port, wasUp: false };
}

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

async function requireServing(
  running: BrokerProcess,
  { dataDir, port }: BrokerOptions,
): Promise<BrokerProcess> {
  if (running.port !== port)
    throw new CannotContinue(
      `A broker already runs on the data in ${dataDir}, at port ${running.port}: stop it first with npm run kafka:down.`,
    );
  const until = performance.now() + readyWithinMs;
  while (!(await servesMetadata(running.port))) {
    if (performance.now() > until)
      throw new CannotContinue(
        `The broker that runs already (process ${running.pid}) does not answer: stop it first with npm run kafka:down.`,
      );
    await delay(pollMs);
  }
  return running;
}

async function requireFreePort(port: number): Promise<void> {
  const problem = await portProblem(port);
  if (problem === undefined) return;
  const other = port === portDefault ? 'another one' : 'one that is free';
  throw new CannotContinue(`Port ${port} cannot be used (${problem}): set KAFKA_PORT to ${other}.`);
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

/** The broker outlives this process; its output goes to its log. */
function launch({ java, classPath }: Distribution, { dataDir }: BrokerOptions): number {
  const log = openSync(logFile(dataDir), 'w');
  const logging = [
    '-Dorg.slf4j.simpleLogger.showDateTime=true',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=info',
  ];
  const args = [...jvmOptions, ...logging, '-cp', classPath, 'kafka.Kafka', propertiesFile(dataDir)];
  const child = spawn(java, args, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  if (child.pid === undefined) throw new CannotContinue(`${java} could not be started.`);
  return child.pid;
}

async function waitUntilServing(pid: number, { dataDir, port, signal }: BrokerOptions): Promise<void> {
  const until = performance.now() + readyWithinMs;
  while (!(await servesMetadata(port))) {
    if (signal?.aborted === true) await stopBroker(dataDir, pid, 1_000);
    requireGoingOn(signal);
    const isGone = findBroker(dataDir) === undefined;
    if (isGone || performance.now() > until) {
      if (!isGone) await stopBroker(dataDir, pid, 1_000);
      removePidFile(dataDir);
      const what = isGone ? 'ended while it was starting' : `did not serve within ${readyWithinMs / 1_000} s`;
      const log = lastLines(readFileSync(logFile(dataDir), 'utf8'));
      throw new CannotContinue(`Kafka ${what}; ${logFile(dataDir)} ends with:\n${log}`);
    }
    await delay(pollMs);
  }
}

const lastLines = (text: string) => text.trimEnd().split('\n').slice(-logLinesShown).join('\n');
