/** Runs a program that needs a server, and leaves nothing running: not the server, and nothing that the program has started. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { requireGoingOn } from './stop-with-sentence.ts';

/** How long a program may take to end when it is asked to. */
const endWithinMs = 15_000;

export interface RunningServer {
  /** What the program finds it by. */
  env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface ProgramRun {
  /** Gives a server, whose data may be in the folder. */
  obtainServer: (folder: string, signal: AbortSignal) => Promise<RunningServer>;
  /** Stops what may have been started in the folder next to the server. */
  stopOthersIn?: (folder: string) => Promise<void>;
  /** Arguments of Node. */
  argv: readonly string[];
  signal: AbortSignal;
}

/** Gives the program's exit code, 1 if it was ended. @throws CannotGoOn */
export async function runWithServer({
  obtainServer,
  stopOthersIn = async () => {},
  argv,
  signal,
}: ProgramRun): Promise<number> {
  // Whatever is started below it is found again, however its starter came to its end.
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
      // A server that fails to stop is no reason to leave the rest.
      try {
        await stopOthersIn(folder);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
}

/** In a group of processes of its own, so that its end can be that of all of them. */
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
    // It is empty.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export const endOf = (child: ChildProcess) =>
  new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });

export interface ServerProgram {
  /** Its address, as the program says it. */
  address: string;
  stop(): Promise<void>;
}

export interface ServerProgramOptions {
  /** Stops it while it starts; aborted before, keeps it from being started. */
  signal: AbortSignal;
  /** Asks it to end; by default its standard input ends. */
  tellToEnd?: (child: ChildProcess) => void;
}

/**
 * Starts a program that is a server, or has one in a container: it prints the address as its first line, and `no …` where
 * it has none to give. A terminal's Ctrl-C does not reach it: it would end before the container, or before those who need
 * it.
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
