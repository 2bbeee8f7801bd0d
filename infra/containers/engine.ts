/** A Docker engine: a running one, or Debian's, started for this run. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endOf } from '../run-with-server.ts';
import { CannotContinue, requireGoingOn } from '../stop-with-sentence.ts';

const answersWithinMs = 60_000;
const endsWithinMs = 30_000;
const pollMs = 250;
const logLinesShown = 10;
/** Debian's packages by the program they provide. */
const enginePackages = { dockerd: 'docker.io', iptables: 'iptables' } as const;

export interface Engine {
  /** The environment by which Docker's clients find it. */
  env: Readonly<Record<string, string>>;
  /** The command of Compose. */
  compose: readonly string[];
  /** Stops the engine if this run started it. */
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** Data folder for images, containers and volumes; kept between runs. */
  dataDir: string;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** @throws CannotContinue if no engine is running and none can be started */
export async function findEngine(options: EngineOptions): Promise<Engine> {
  if (answers({})) {
    options.say('Using the Docker engine that answers.');
    return { env: {}, compose: composeOf({}, options.say), stop: async () => {} };
  }
  requirePrograms(enginePackages, options.say);
  return startEngine(options);
}

const answers = (env: object) =>
  spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], { env: { ...process.env, ...env } })
    .status === 0;

/** Compose 2 is part of `docker`, version 1 a separate program. */
function composeOf(env: object, say: (line: string) => void): readonly string[] {
  const { status } = spawnSync('docker', ['compose', 'version'], { env: { ...process.env, ...env } });
  if (status === 0) return ['docker', 'compose'];
  requirePrograms({ 'docker-compose': 'docker-compose' }, say);
  return ['docker-compose'];
}

const isThere = (program: string) => spawnSync('which', [program]).status === 0;

/**
 * Installs missing programs if possible.
 *
 * @param packageOf the package of each program
 * @throws CannotContinue
 */
export function requirePrograms(
  packageOf: Readonly<Record<string, string>>,
  say: (line: string) => void,
): void {
  const missing = Object.keys(packageOf).filter((program) => !isThere(program));
  if (missing.length === 0) return;
  const packages = missing.map((program) => packageOf[program] ?? program);
  const canInstall = process.getuid?.() === 0 && isThere('apt-get');
  if (canInstall) {
    say(`Installing ${packages.join(', ')} (first time only, about a minute) …`);
    aptGet('update');
    aptGet('install', '--yes', '--no-install-recommends', ...packages);
  }
  const absent = missing.filter((program) => !isThere(program));
  if (absent.length === 0) return;
  throw new CannotContinue(
    `The container tests need ${absent.join(', ')}: install them (on Debian, \`apt-get install ${packages.join(' ')}\` as root), then start again.`,
  );
}

function aptGet(...args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

async function startEngine({ dataDir, say, signal }: EngineOptions): Promise<Engine> {
  if (process.getuid?.() !== 0)
    throw new CannotContinue(
      'No Docker engine answers, and only root may start one: set DOCKER_HOST, or run this as root.',
    );
  say('No Docker engine answers: starting one …');
  mkdirSync(dataDir, { recursive: true });
  // The length of socket paths is limited.
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-engine-'));
  const host = `unix://${join(folder, 'docker.sock')}`;
  const logFile = join(folder, 'engine.log');
  const log = openSync(logFile, 'w');
  const places = [
    '--data-root',
    dataDir,
    '--exec-root',
    join(folder, 'exec'),
    '--pidfile',
    join(folder, 'pid'),
  ];
  // Ports are opened on loopback only. On a network with a smaller MTU, larger packets would be dropped silently.
  const network = ['--ip', '127.0.0.1', '--mtu', '1400'];
  const argv = [...places, '--host', host, ...network, '--log-level', 'warn'];
  const child = spawn('dockerd', argv, { stdio: ['ignore', log, log], detached: true });
  const env = { DOCKER_HOST: host };
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilAnswering(child, env, { logFile, signal });
    return { env, compose: composeOf(env, say), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilAnswering(
  child: ChildProcess,
  env: object,
  { logFile, signal }: { logFile: string; signal: AbortSignal },
): Promise<void> {
  const until = performance.now() + answersWithinMs;
  while (!answers(env)) {
    requireGoingOn(signal);
    const isGone = child.exitCode !== null || child.signalCode !== null;
    if (isGone || performance.now() > until) {
      const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-logLinesShown);
      throw new CannotContinue(`The Docker engine did not start; its log ends with:\n${lines.join('\n')}`);
    }
    await delay(pollMs);
  }
}

/** Its containers end with the engine, so nothing is left running. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = endOf(child);
  child.kill('SIGTERM');
  const insisting = setTimeout(() => child.kill('SIGKILL'), endsWithinMs);
  await ended;
  clearTimeout(insisting);
}
