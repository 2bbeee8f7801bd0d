/** Keeps one process running: shows its output, and restarts it when it dies. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type Clock, StartupError } from '@tollgate/service-kit';
import { crashed, temporaryFailure } from '../composition/start-failure.ts';

export interface ProcessOptions {
  label: string;
  /** Arguments of Node. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Called with every line of its standard output; true for the line that reports readiness. */
  isReadyLine: (line: string) => boolean;
  clock: Clock;
  /** Prints a line. */
  say: (line: string) => void;
  /** Called at each start. Its errors are printed, and have no other effect. */
  onStart: (pid: number) => void;
}

export interface Supervised {
  /**
   * Resolves when it serves for the first time. Rejects with StartupError if it cannot be started: it has printed
   * why, or crashed or was killed several times. A start that may succeed later is retried.
   */
  ready: Promise<void>;
  /** Stops it, kills it when `signal` is aborted, and resolves when it has ended. It is not restarted. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Pause before a process that died is started again, milliseconds: doubled each time, until it has run for long. */
const pauseMinMs = 250;
const pauseMaxMs = 10_000;
const longRunMs = 30_000;
/** Restarts of one that crashes or is killed before it serves, for example for its memory. */
const startsMax = 3;

export function supervise(options: ProcessOptions): Supervised {
  const { label, clock, say } = options;
  const ready = Promise.withResolvers<undefined>();
  const stopping = new AbortController();
  let child: ChildProcess | undefined;

  async function run(): Promise<void> {
    let pauseMs = pauseMinMs;
    let isReady = false;
    let crashes = 0;
    while (!stopping.signal.aborted) {
      const startedAt = clock.monotonic();
      child = start(options, () => {
        isReady = true;
        ready.resolve(undefined);
      });
      const end = await endOf(child);
      if (stopping.signal.aborted) return;
      if (end.isCrash) crashes += 1;
      if (!isReady && !(end.isCrash ? crashes < startsMax : end.isTemporary)) {
        ready.reject(new StartupError('not_started', `${label} could not be started (${end.how}).`));
        return;
      }
      if (clock.monotonic() - startedAt > longRunMs) pauseMs = pauseMinMs;
      say(`${label} ended (${end.how}); it restarts in ${pauseMs} ms`);
      await clock.sleep(pauseMs, stopping.signal).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, pauseMaxMs);
    }
  }

  const running = run();
  return {
    ready: ready.promise,
    async stop(signal) {
      stopping.abort();
      const kill = () => void child?.kill('SIGKILL');
      signal.addEventListener('abort', kill);
      if (signal.aborted) kill();
      else child?.kill('SIGTERM');
      await running;
      signal.removeEventListener('abort', kill);
    },
  };
}

/**
 * No debugger may attach to a process with keys and card data in memory; and without a limit the heap grows to a
 * multiple of its live data before it is collected.
 */
const nodeOptions = ['--disable-sigusr1', '--max-old-space-size=512', '--max-semi-space-size=16'];

/** @param onReady called when it serves */
function start({ argv, env, label, say, isReadyLine, onStart }: ProcessOptions, onReady: () => void) {
  const child = spawn(process.execPath, [...nodeOptions, ...argv], {
    env: { ...env },
    // Ctrl-C in a terminal reaches a whole process group: separate it, so that all are stopped in order. The channel
    // closes when we end, in any way, and ends the process.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  // For example on a full disk: running processes matter more than their list.
  try {
    if (child.pid !== undefined) onStart(child.pid);
  } catch (error) {
    say(`${label} runs, but could not be listed (${(error as Error).message})`);
  }
  const show = (line: string) => say(labelled(label, line));
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line !== '') show(line);
    if (isReadyLine(line)) onReady();
  });
  createInterface({ input: child.stderr }).on('line', show);
  return child;
}

/** A log line names its process in a field, so that the combined log is machine-readable; other lines have a prefix. */
export const labelled = (label: string, line: string): string =>
  line.startsWith('{"') && line.endsWith('}')
    ? `{"process":${JSON.stringify(label)},${line.slice(1)}`
    : `[${label}] ${line}`;

/** Its exit, once all its output was read. */
function endOf(child: ChildProcess): Promise<{ how: string; isCrash: boolean; isTemporary: boolean }> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ how: error.message, isCrash: false, isTemporary: false }));
    child.once('close', (code, signal) =>
      resolve({
        how: signal ?? `exit code ${code ?? 0}`,
        isCrash: signal !== null || code === crashed,
        isTemporary: code === temporaryFailure,
      }),
    );
  });
}
