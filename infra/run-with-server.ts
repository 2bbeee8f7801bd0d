/** Runs a program that needs a server, and leaves nothing running, including anything that the program has started. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { requireGoingOn } from './stop-with-sentence.ts';

/** Maximum time for a program to exit when asked to. */
const endWithinMs = 15_000;

export interface RunningServer {
  /** Environment by which the program finds the server. */
  env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface ProgramRun {
  /** Provides a server; its data may be in the folder. */
  obtainServer: (folder: string, signal: AbortSignal) => Promise<RunningServer>;
  /** Node's arguments. */
  argv: readonly string[];
  signal: AbortSignal;
}

/** Resolves with the program's exit code, 1 if it was killed. @throws CannotContinue */
export async function runWithServer({ obtainServer, argv, signal }: ProgramRun): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-server-'));
  let server: RunningServer | undefined;
  try {
    server = await obtainServer(join(folder, 'server'), signal);
    requireGoingOn(signal);
    return await runProgram(argv, { ...server.env, TMPDIR: folder }, signal);
  } finally {
    try {
      await server?.stop();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** In its own process group, so that the whole group can be stopped. */
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
    // The group is empty.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export const endOf = (child: ChildProcess) =>
  new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });

export interface ServerProgram {
  /** The address that the program has printed. */
  address: string;
  stop(): Promise<void>;
}

export interface ServerProgramOptions {
  /** Stops it during the start; if already aborted, prevents the start. */
  signal: AbortSignal;
  /** Asks it to exit. @default closes its standard input */
  tellToEnd?: (child: ChildProcess) => void;
}

/**
 * Starts a program that is a server, or runs one in a container. It prints the address as its first line, or `no …` if
 * it has none. It does not receive a terminal's Ctrl-C, which would stop it before the container or its users.
 */
export async function startServerProgram(
  argv: readonly string[],
  { signal, tellToEnd = ({ stdin }) => void stdin?.end() }: ServerProgramOptions,
): Promise<ServerProgram | undefined> {
  // An already aborted signal fires no event.
  if (signal.aborted) return undefined;
  const child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = endOf(child);
  const stop = async () => {
    tellToEnd(child);
    await ended;
  };
  const stopEarly = () => tellToEnd(child);
  signal.addEventListener('abort', stopEarly, { once: true });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('no ')) break;
      return { address: line, stop };
    }
  } finally {
    signal.removeEventListener('abort', stopEarly);
  }
  await stop();
  return undefined;
}
