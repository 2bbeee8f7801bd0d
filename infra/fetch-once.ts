/** Test tools that the machine lacks: fetched once into a cache folder, with a program of the machine. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CannotContinue, requireGoingOn } from './stop-with-sentence.ts';

const progressIntervalMs = 10_000;

export interface Fetching {
  /** Name of the cache folder. */
  folder: string;
  /** The artifact and its source, as part of a sentence. */
  what: string;
  /** Downloads into the given folder. */
  fetch: (into: string) => Promise<void>;
  say: (line: string) => void;
}

/** Downloads into a temporary folder and renames it, so that an interrupted download never looks complete. */
export async function fetchOnce({ folder, what, fetch, say }: Fetching): Promise<void> {
  if (existsSync(folder)) return;
  mkdirSync(dirname(folder), { recursive: true });
  const incomplete = mkdtempSync(join(dirname(folder), 'fetching-'));
  const startedAt = performance.now();
  const progress = setInterval(
    () => say(`… still fetching, ${Math.round((performance.now() - startedAt) / 1_000)} s`),
    progressIntervalMs,
  );
  try {
    say(`Fetching ${what} …`);
    const filled = join(incomplete, 'filled');
    mkdirSync(filled);
    await fetch(filled);
    if (!existsSync(folder)) renameSync(filled, folder);
  } finally {
    clearInterval(progress);
    rmSync(incomplete, { recursive: true, force: true });
  }
}

/** A tool that one command downloads. */
export interface ToolFetching extends Pick<Fetching, 'folder' | 'say'> {
  /** Name, with its version. */
  name: string;
  /** The registry, and the size or the duration. */
  from: string;
  /** The command that downloads it into the given folder. */
  run: (into: string) => Omit<ToolRun, 'signal'>;
  signal: AbortSignal | undefined;
}

/** @returns the folder @throws CannotContinue */
export async function fetchTool({ folder, name, from, say, run, signal }: ToolFetching): Promise<string> {
  const fetch = async (into: string) => {
    const command = run(into);
    const { code, output } = await runTool({ ...command, signal });
    if (code !== 0)
      throw new CannotContinue(`${command.command} could not fetch ${name}: ${reasonIn(output)}`);
  };
  await fetchOnce({ folder, what: `${name} from ${from} (first time only)`, fetch, say });
  return folder;
}

/** Maven's first error, or the last line. */
export const reasonIn = (output: string): string =>
  /\[ERROR\] (.+)/.exec(output)?.[1] ?? output.trim().split('\n').at(-1) ?? '';

export interface ToolRun {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Working directory. @default the current one */
  cwd?: string | undefined;
  /** Message if the command is not installed. */
  missing: string;
  signal?: AbortSignal | undefined;
}

/** Resolves with the exit code and the output. @throws CannotContinue without the command, or when asked to stop */
export async function runTool({ command, args, env, cwd, missing, signal }: ToolRun): Promise<ToolResult> {
  const result = await new Promise<ToolResult>((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    signal?.addEventListener('abort', () => child.kill());
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', () => reject(new CannotContinue(missing)));
    child.once('close', (code) => resolve({ code, output }));
  });
  requireGoingOn(signal);
  return result;
}

interface ToolResult {
  code: number | null;
  output: string;
}
