/**
 * The command line `npm run tollgate -- …`: it works on the data directory of a gateway, beside the running one.
 *
 * A further group of commands is a file `x-commands.ts` here with one `registerXCommands(program, run)`, and a line in
 * `registerGroups`. It adds its commands to `program`; an action parses its arguments and then calls
 * `run(async ({ store, directory, clock, ids, log }) => result)`. `run` opens the data directory, closes it, prints the
 * result on standard output (its `json` where `--json` is given, its `text` otherwise) and sets the exit code:
 * 0 done; 1 `refused`, as things stand, or a failure; 2 called wrongly, which Commander finds through `argParser` and
 * `InvalidArgumentError` or an action by `usage`. Messages are one sentence, name the argument and go to standard error.
 * The spec `program.spec.ts` runs commands without a process; `e2e/teams.int.spec.ts` as a user does.
 */
import type { EventStore } from '@tollgate/event-store';
import type { MessageBus, TopicReader } from '@tollgate/message-bus';
import {
  type Clock,
  type Ids,
  type Log,
  type WebhookMasterSecret,
  TollgateError,
} from '@tollgate/service-kit';
import { Command, CommanderError } from 'commander';
import type { DataDirectory } from '../configuration/data-directory.ts';
import { registerCallbackCommands } from './callback-commands.ts';
import { registerKeyCommands } from './key-commands.ts';
import { registerWebhookCommands } from './webhook-commands.ts';
import { registerRebuildCommands } from './rebuild-commands.ts';
import { registerTailCommands } from './tail-commands.ts';
import { registerTeamCommands } from './team-commands.ts';
import { type TopicAdmin, registerTopicCommands } from './topic-commands.ts';

/** What the work of a command may use. */
export interface CommandTools {
  directory: DataDirectory;
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The masters of the secrets that webhooks are signed with. @throws StartupError where they are set wrong */
  webhookSecrets: () => readonly WebhookMasterSecret[];
  /** The bus that the gateway uses; absent where it is embedded in the store. */
  openBus?: () => MessageBus;
  /** Absent where the topics are in the store, as those of the embedded bus are. */
  topicReader?: TopicReader;
  /** Absent where topics come to be when they are used, as on the embedded bus. */
  topicAdmin?: TopicAdmin;
  /** Gives what is aborted when the user stops the command; whoever asks for it ends by itself then. */
  stopSignal?: () => AbortSignal;
}

export type CommandResult =
  | { kind: 'done'; text: string; json: unknown }
  /** Done, and everything was printed piece by piece. */
  | { kind: 'printed' }
  /** As things stand. */
  | { kind: 'refused'; message: string }
  /** As it was called, it can never be done. */
  | { kind: 'usage'; message: string };

/** Does the work of the one command that was given. */
export type RunCommand = (work: (tools: CommandTools) => Promise<CommandResult>) => Promise<void>;

/** For commands that print piece by piece. */
export interface CliOutput {
  print: (text: string) => void;
  hasColours: boolean;
}

function registerGroups(program: Command, run: RunCommand, output: CliOutput): void {
  registerTeamCommands(program, run);
  registerKeyCommands(program, run);
  registerWebhookCommands(program, run);
  registerCallbackCommands(program, run);
  registerTailCommands(program, run, output);
  registerRebuildCommands(program, run, output);
  registerTopicCommands(program, run);
}

export interface CliDependencies {
  /** Opens the data directory; called once, and only where the arguments are right. */
  open: () => Promise<{ tools: CommandTools; close: () => Promise<void> }>;
  /** For what was asked for. */
  print: (text: string) => void;
  /** For the one sentence that says what is wrong. */
  complain: (text: string) => void;
  /** Whether `print` goes to a terminal that shows colours; no by default. */
  hasColours?: boolean;
}

const exitCodes = { done: 0, refused: 1, usage: 2 } as const;

/** Runs one command line and gives the exit code of the process. Rejects with what is a fault of ours. */
export async function runCommandLine(argv: readonly string[], deps: CliDependencies): Promise<number> {
  const { print, complain, hasColours = false } = deps;
  let exitCode: number = exitCodes.done;
  const end = (kind: 'refused' | 'usage', message: string): void => {
    complain(`${message}\n`);
    exitCode = exitCodes[kind];
  };
  const program = createProgram(print);
  const run: RunCommand = async (work) => {
    const result = await withTools(deps, work);
    const isJson = program.opts<{ json?: boolean }>().json === true;
    if (result.kind === 'done') print(`${isJson ? JSON.stringify(result.json) : result.text}\n`);
    else if (result.kind !== 'printed') end(result.kind, result.message);
  };
  registerGroups(program, run, { print, hasColours });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) end('usage', toSentence(error));
    } else if (error instanceof TollgateError) end('refused', error.message);
    else throw error;
  }
  return exitCode;
}

async function withTools(
  { open }: CliDependencies,
  work: (tools: CommandTools) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { tools, close } = await open();
  try {
    return await work(tools);
  } finally {
    await close();
  }
}

const createProgram = (print: (text: string) => void): Command =>
  new Command('npm run tollgate --')
    .description('Manages the gateway whose data are in TOLLGATE_DATA_DIR (.data), beside the running one.')
    .option('--json', 'print the result as one line of JSON')
    // Before the commands, which inherit these.
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: print, writeErr: () => undefined });

/** Of a complaint, which repeats what was given. */
const complaintLengthMax = 300;

/** Commander's complaints are up to three sentences, and where a command is missing there is none. */
function toSentence({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'A command is missing; --help tells which there are.';
  const text = message
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replaceAll('. ', ': ')
    .replaceAll(/\s+/g, ' ')
    // A terminal obeys what is written to it.
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '?')
    .slice(0, complaintLengthMax);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}; --help tells more.`;
}
