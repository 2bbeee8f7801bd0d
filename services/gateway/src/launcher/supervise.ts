/** Keeps one process running: shows what it prints, and starts it again when it dies. */
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
  /** Called with every line of its standard output; true for the one that says that it serves. */
  isReadyLine: (line: string) => boolean;
  /** Whether its standard output is shown, too; its standard error is always. */
  isShown: boolean;
  clock: Clock;
  /** Prints a line. */
  say: (line: string) => void;
  /** Called at each start. What it throws is printed, and changes nothing else. */
  onStart: (pid: number) => void;
}

export interface Supervised {
  /**
   * Resolves when it serves for the first time. Rejects with StartupError if it cannot be started: it has said why, or
   * crashed or was killed several times. A start that may work later is repeated.
   */
  ready: Promise<void>;
  /** Asks it to stop, insists when `signal` is aborted, and resolves when it is gone. It is not started again. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Pause before a process that died is started again, milliseconds: doubled each time, until it has run for long. */
const pauseMinMs = 250;
const pauseMaxMs = 10_000;
const longRunMs = 30_000;
/** Of one that crashes or is killed before it serves, for its memory say. */
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
 * Nobody opens a debugger in what has keys and card data in its memory; and without a bound the heap grows to a multiple of
 * what lives in it before it is collected.
 */
const nodeOptions = ['--disable-sigusr1', '--max-old-space-size=512', '--max-semi-space-size=16'];

/** @param onReady called when it serves */
function start(
  { argv, env, label, say, isReadyLine, isShown, onStart }: ProcessOptions,
  onReady: () => void,
) {
  const child = spawn(process.execPath, [...nodeOptions, ...argv], {
    env: { ...env },
    // Ctrl-C in a terminal reaches a whole group: out of ours, so that all are stopped in their order. The channel ends
    // with us, however we end, and with it the process.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  // A full disk, say: what runs is worth more than who knows of it.
  try {
    if (child.pid !== undefined) onStart(child.pid);
  } catch (error) {
    say(`${label} runs, but could not be listed (${(error as Error).message})`);
  }
  const show = (line: string) => say(labelled(label, line));
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (isShown && line !== '') show(line);
    if (isReadyLine(line)) onReady();
  });
  createInterface({ input: child.stderr }).on('line', show);
  return child;
}

/** A line of the log says in a field whose it is, so that all of them together can be read by a program; others in front. */
export const labelled = (label: string, line: string): string =>
  line.startsWith('{"') && line.endsWith('}')
    ? `{"process":${JSON.stringify(label)},${line.slice(1)}`
    : `[${label}] ${line}`;

/** What became of it, once all that it printed was read. */
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
