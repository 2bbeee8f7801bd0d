/** Runs the specs of one project of vitest.config.ts in a their own process; whatever they start ends with them. */
import { join } from 'node:path';
import { type ProgramRun, runWithServer } from './run-with-server.ts';

const workspace = join(import.meta.dirname, '..');

/** @returns what runs vitest on `project`, as arguments of Node */
export const vitestArgv = (project: string, options: readonly string[]): string[] => [
  join(workspace, 'node_modules', 'vitest', 'vitest.mjs'),
  ...['run', '--root', workspace, '--project', project],
  ...options,
];

/** For specs that need no server. @param env what they read; @throws CannotGoOn */
export const runVitest = (
  project: string,
  options: readonly string[],
  { env, signal }: { env: Readonly<Record<string, string>>; signal: ProgramRun['signal'] },
): Promise<number> =>
  runWithServer({
    obtainServer: async () => ({ env, stop: async () => {} }),
    argv: vitestArgv(project, options),
    signal,
  });
