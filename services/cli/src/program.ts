/** `npm run tollgate -- …`: works on a gateway's data directory, whether or not the gateway is running. */
import { type CommandLineDeps, option, runProgram } from '@tollgate/service-kit/command-line';
import { commands } from './commands.ts';
import { person } from './parameters.ts';
import type { OpenedTools } from './tools.ts';

export interface CliDependencies extends Omit<CommandLineDeps<OpenedTools>, 'open'> {
  /** @param backup restored first */
  open(backup?: string): Promise<{ tools: OpenedTools; close: () => Promise<void> }>;
  /** The recorded person without `--as`. */
  person?: string;
}

/** Runs one command line and returns the exit code of the process. @throws internal errors */
export function runCommandLine(
  argv: readonly string[],
  { open, person: byDefault = 'os:unknown', ...output }: CliDependencies,
): Promise<number> {
  return runProgram(
    argv,
    {
      call: 'npm run tollgate --',
      summary: 'Manages the gateway of TOLLGATE_DATA_DIR (.data), while it runs or not.',
      commands,
      options: { as: option('person', `who makes the change, in the records (${byDefault})`, person) },
    },
    {
      ...output,
      open: async ({ as, backup }) => {
        const { tools, close } = await open(typeof backup === 'string' ? backup : undefined);
        const name = typeof as === 'string' ? as : byDefault;
        const actor = { kind: 'person', name, source: 'command-line' } as const;
        return { tools: { ...tools, person: actor }, close };
      },
    },
  );
}
