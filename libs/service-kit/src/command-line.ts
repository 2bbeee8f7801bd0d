/**
 * What our command lines have in common. A command's action parses its arguments and then calls `run`, which opens what
 * the work needs, closes it, prints the result and sets the exit code. A bad call opens nothing. Whatever is wrong is one
 * sentence on standard error.
 */
import { type Command, CommanderError } from 'commander';
import { TollgateError } from './errors.ts';

/** `refused`: as things stand. `usage`: as it was called, it can never be done. */
export interface CommandRefusal {
  kind: 'refused' | 'usage';
  message: string;
}

export type CommandResult =
  /**
   * `json` is printed in place of `text` where the program has an option `--json`, and it is given. `exitCode` is 0
   * unless given: 1 says that what was looked for is not as it should be.
   */
  | { kind: 'done'; text: string; json?: unknown; exitCode?: 0 | 1 }
  /** Done, and everything was printed piece by piece. */
  | { kind: 'printed' }
  | CommandRefusal;

/** Does the work of the one command that was given. */
export type RunCommand<Tools> = (work: (tools: Tools) => Promise<CommandResult>) => Promise<void>;

/** The same for work that needs nothing opened. */
export type RunAlone = (work: () => Promise<CommandResult>) => Promise<void>;

interface Opened<Tools> {
  tools: Tools;
  close: () => Promise<void> | void;
}

export interface CommandLineDeps<Tools> {
  /** Called once, and only where the arguments are right. */
  open: () => Promise<Opened<Tools>> | Opened<Tools>;
  /** For what was asked for. */
  print: (text: string) => void;
  /** For the one sentence that says what is wrong. */
  complain: (text: string) => void;
}

const exitCodes = { refused: 1, usage: 2 } as const;

/**
 * Runs one command line and gives the exit code of the process: 0 done, 1 refused as things stand, 2 called wrongly.
 *
 * @param addCommands adds the commands to `program`, and gives their work to `run`
 * @throws what is a fault of ours
 */
export async function runProgram<Tools>(
  argv: readonly string[],
  program: Command,
  addCommands: (run: RunCommand<Tools>, runAlone: RunAlone) => void,
  { open, print, complain }: CommandLineDeps<Tools>,
): Promise<number> {
  let exitCode = 0;
  const refuse = ({ kind, message }: CommandRefusal): void => {
    complain(`${message}\n`);
    exitCode = exitCodes[kind];
  };
  // Before the commands, which inherit these.
  program
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: print, writeErr: () => undefined });
  const finish = (result: CommandResult): void => {
    const isJson = program.opts<{ json?: boolean }>().json === true;
    if (result.kind === 'done') {
      print(`${isJson ? JSON.stringify(result.json) : result.text}\n`);
      exitCode = result.exitCode ?? 0;
    } else if (result.kind !== 'printed') refuse(result);
  };
  addCommands(
    async (work) => finish(await workAndClose(await open(), work)),
    async (work) => finish(await work()),
  );
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) refuse({ kind: 'usage', message: toSentence(error) });
    } else if (error instanceof TollgateError) refuse({ kind: 'refused', message: error.message });
    else throw error;
  }
  return exitCode;
}

async function workAndClose<Tools>(
  { tools, close }: Opened<Tools>,
  work: (tools: Tools) => Promise<CommandResult>,
): Promise<CommandResult> {
  try {
    return await work(tools);
  } finally {
    await close();
  }
}

const sentenceLengthMax = 300;

/** Commander's messages are up to three sentences, and repeat what was given; where a command is missing there is none. */
function toSentence({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'A <command> is missing; see --help.';
  const text = printable(
    message
      .replace(/^error: /, '')
      .replace(/\.$/, '')
      .replaceAll('. ', ': ')
      .replaceAll(/\s+/g, ' '),
  ).slice(0, sentenceLengthMax);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}; see --help.`;
}

/** A terminal obeys the control characters that are written to it. */
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
