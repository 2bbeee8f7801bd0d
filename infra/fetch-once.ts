/** What a test needs and the machine does not have: fetched once, by a tool of the machine, into a folder of the cache. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CannotGoOn, requireGoingOn } from './stop-with-sentence.ts';

const progressIntervalMs = 10_000;

export interface Fetching {
  /** Where it is kept. */
  folder: string;
  /** What is fetched and from where, as a part of a sentence. */
  what: string;
  /** Fills the folder that it is given. */
  fetch: (into: string) => Promise<void>;
  say: (line: string) => void;
}

/** Into a folder next to, which then gets its name: an interrupted fetch leaves nothing that seems complete. */
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

export interface ToolRun {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The folder that it runs in; this one's by default. */
  cwd?: string | undefined;
  /** What to say where the machine does not have the command. */
  missing: string;
  signal?: AbortSignal | undefined;
}

/** Gives the exit code and all that was printed. @throws CannotGoOn without the command, or when asked to stop */
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
    child.once('error', () => reject(new CannotGoOn(missing)));
    child.once('close', (code) => resolve({ code, output }));
  });
  requireGoingOn(signal);
  return result;
}

interface ToolResult {
  code: number | null;
  output: string;
}
