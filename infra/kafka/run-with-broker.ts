/** Runs a program that needs a broker, and leaves nothing running: not the broker, and nothing that the program has started. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBroker, stopBroker } from './broker-process.ts';
import type { Distribution } from './distribution.ts';
import { freePort, startBroker } from './start-broker.ts';
import { requireGoingOn } from './stop-with-sentence.ts';

/** How long a program may take to end when it is told to. */
const endWithinMs = 15_000;

export interface RunningBroker {
  /** What `KAFKA_BROKERS` is set to. */
  brokers: string;
  stop(): Promise<void>;
}

export interface ProgramRun {
  /** Gives a broker, whose data may be in the folder. */
  obtainBroker: (folder: string, signal: AbortSignal) => Promise<RunningBroker>;
  /** Arguments of Node. */
  argv: readonly string[];
  signal: AbortSignal;
}

/** Gives the program's exit code, 1 where it was ended. @throws CannotGoOn */
export async function runWithBroker({ obtainBroker, argv, signal }: ProgramRun): Promise<number> {
  // Whatever is started below it is found again, however its starter came to its end.
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-kafka-'));
  let broker: RunningBroker | undefined;
  try {
    broker = await obtainBroker(join(folder, 'broker'), signal);
    requireGoingOn(signal);
    return await runProgram(argv, { KAFKA_BROKERS: broker.brokers, TMPDIR: folder }, signal);
  } finally {
    await broker?.stop();
    await stopBrokersIn(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a group of processes of its own, so that its end can be that of all of them; brokers are in none. */
async function runProgram(argv: readonly string[], env: object, signal: AbortSignal): Promise<number> {
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let insisting: NodeJS.Timeout | undefined;
  const end = () => {
    signalGroup(child, 'SIGTERM');
    insisting = setTimeout(() => signalGroup(child, 'SIGKILL'), endWithinMs);
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    return await endOf(child);
  } finally {
    signal.removeEventListener('abort', end);
    clearTimeout(insisting);
    signalGroup(child, 'SIGKILL');
  }
}

function signalGroup({ pid }: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    // Nobody is left in it.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export const endOf = (child: ChildProcess) =>
  new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });

async function stopBrokersIn(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const running = findBroker(join(folder, name));
    if (running !== undefined) await stopBroker(join(folder, name), running.pid);
  }
}

/** A broker on this machine, with fresh data. */
export const localBroker =
  (say: (line: string) => void, distribution?: Distribution): ProgramRun['obtainBroker'] =>
  async (dataDir, signal) => {
    const options = { dataDir, port: await freePort(), say, signal };
    const { pid, port } = await startBroker({
      ...options,
      ...(distribution === undefined ? {} : { distribution }),
    });
    return {
      brokers: `127.0.0.1:${port}`,
      stop: async () => {
        await stopBroker(dataDir, pid);
      },
    };
  };
