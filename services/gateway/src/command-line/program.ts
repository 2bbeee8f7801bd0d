/**
 * The command line `npm run tollgate -- …`: it works on the data directory of a gateway, beside the running one.
 *
 * A further group of commands is a file `x-commands.ts` here with one `registerXCommands(program, run)`, and a line below.
 * `program.spec.ts` runs commands without a process; `e2e/teams.int.spec.ts` as a user does.
 */
import {
  type CommandLineDeps,
  type RunAlone,
  type RunCommand as Run,
  runProgram,
} from '@tollgate/service-kit/command-line';
import { Command } from 'commander';
import { registerAccountCommands } from './account-commands.ts';
import { registerAdoptCommand } from './adopt-command.ts';
import { registerAuditCommands } from './audit-commands.ts';
import { registerBackupCommands } from './backup-commands.ts';
import { registerCallbackCommands } from './callback-commands.ts';
import type { OpenedTools, RunCommand } from './command.ts';
import { registerCompactCommand } from './compact-command.ts';
import { registerKeyCommands } from './key-commands.ts';
import { commandLinePerson, parsePerson } from './person.ts';
import { registerOperatorCommands } from './operator-commands.ts';
import { registerPaymentCommands } from './payment-commands.ts';
import { registerReconcileCommand } from './reconcile-command.ts';
import { registerRebuildCommands } from './rebuild-commands.ts';
import { registerSecretsCommands } from './secrets-commands.ts';
import { registerSigningCommand } from './signing-command.ts';
import { registerTailCommands } from './tail-commands.ts';
import { registerTeamCommands } from './team-commands.ts';
import { registerTopicCommands } from './topic-commands.ts';
import { registerUpgradeCommand } from './upgrade-command.ts';
import { registerWebhookCommands } from './webhook-commands.ts';

export interface CliDependencies extends CommandLineDeps<OpenedTools> {
  /** Who changes something where `--as` does not say it. */
  person?: string;
  /** Whether `print` goes to a terminal that shows colours; no by default. */
  hasColours?: boolean;
}

/** Runs one command line and gives the exit code of the process. Rejects with what is a fault of ours. */
export function runCommandLine(argv: readonly string[], deps: CliDependencies): Promise<number> {
  const { print, person = 'os:unknown', hasColours = false } = deps;
  const program = new Command('npm run tollgate --')
    .description('Manages the gateway whose data are in TOLLGATE_DATA_DIR (.data), beside the running one.')
    .option('--json', 'print the result as one line of JSON')
    .option('--as <person>', `who makes the change, in the records (${person})`, parsePerson)
    .configureHelp({ showGlobalOptions: true });
  const addCommands = (runOpened: Run<OpenedTools>, runAlone: RunAlone): void => {
    const run: RunCommand = (work) =>
      runOpened((tools) => {
        const { as = person } = program.opts<{ as?: string }>();
        return work({ ...tools, person: commandLinePerson(as) });
      });
    registerTeamCommands(program, run);
    registerKeyCommands(program, run);
    registerSigningCommand(program, run);
    registerOperatorCommands(program, run);
    registerAccountCommands(program, run);
    registerPaymentCommands(program, run);
    registerSecretsCommands(program, run);
    registerAuditCommands(program, run);
    registerWebhookCommands(program, run);
    registerCallbackCommands(program, run);
    registerTailCommands(program, run, { print, hasColours });
    registerRebuildCommands(program, run, print);
    registerUpgradeCommand(program, run, print);
    registerTopicCommands(program, run);
    registerBackupCommands(program, { run, runAlone, print });
    registerCompactCommand(program, run);
    registerReconcileCommand(program, run, print);
    registerAdoptCommand(program, run, print);
  };
  return runProgram(argv, program, addCommands, deps);
}
