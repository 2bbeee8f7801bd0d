/** Runs the specs of one vitest.config.ts project in a separate process, and stops everything they start. */
import { join } from 'node:path';
import { type ProgramRun, runWithServer } from './run-with-server.ts';

const workspace = join(import.meta.dirname, '..');

/** @returns Node arguments that run vitest on `project` */
export const vitestArgv = (project: string, options: readonly string[]): string[] => [
  join(workspace, 'node_modules', 'vitest', 'vitest.mjs'),
  ...['run', '--root', workspace, '--project', project],
  ...options,
];

/** For specs without a server. @param env variables for the specs @throws CannotContinue */
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
