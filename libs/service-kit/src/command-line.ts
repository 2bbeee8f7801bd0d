/**
 * Our command lines: a table of commands for Commander. A wrong call opens nothing, ends with exit code 2, and is reported as
 * one sentence that names the parameter.
 */
import { Argument, Command as Cli, CommanderError, InvalidArgumentError, Option } from 'commander';
import { TollgateError } from './errors.ts';

export type CommandResult =
  /** `json` replaces `text` with `--json`. `exitCode` 1: something that the command checks is not as it should be. */
  | { kind: 'done'; text: string; json?: unknown; exitCode?: 0 | 1 }
  /** Done, and everything was printed piece by piece. */
  | { kind: 'printed' }
  /** `refused`: impossible at the moment. `usage`: called wrongly. */
  | { kind: 'refused' | 'usage'; message: string };

export const done = (text: string, json?: unknown, exitCode: 0 | 1 = 0): CommandResult => ({
  kind: 'done',
  text,
  json,
  exitCode,
});
export const refuse = (message: string): CommandResult => ({ kind: 'refused', message });

/** A value that a parameter cannot have. The message continues a sentence that begins with the parameter: "must be …". */
export class InvalidParameter extends InvalidArgumentError {}

/** `argument`: by its place. `option`: `--name <value>`. `flag`: `--name`. `list`: `--name <value> <value>`, or repeated. */
export interface Parameter<Value> {
  kind: 'argument' | 'option' | 'flag' | 'list';
  /** Such as `day`; empty for a flag. */
  placeholder: string;
  help: string;
  parse: Parse<unknown>;
  isRequired?: boolean;
  /** The text that is read if none is given. */
  otherwise?: string;
  /** Only its type is used. */
  value?: Value;
}

type Parse<Value> = (text: string) => Value;

export const text: Parse<string> = (given) => given;

type Described<Value> = readonly [placeholder: string, help: string, parse: Parse<Value>];

const parameter = <Value>(
  kind: Parameter<Value>['kind'],
  [placeholder, help, parse]: Described<unknown>,
  more: Pick<Parameter<Value>, 'isRequired' | 'otherwise'> = {},
): Parameter<Value> => ({ kind, placeholder, help, parse, ...more });

export const argument = <Value>(...described: Described<Value>) =>
  parameter<Value>('argument', described, { isRequired: true });

/** `undefined` without the argument. */
export const optionalArgument = <Value>(...described: Described<Value>) =>
  parameter<Value | undefined>('argument', described);

/** `undefined` without the option. */
export const option = <Value>(...described: Described<Value>) =>
  parameter<Value | undefined>('option', described);

export const requiredOption = <Value>(...described: Described<Value>) =>
  parameter<Value>('option', described, { isRequired: true });

export const optionOr = <Value>(
  ...[placeholder, help, parse, otherwise]: readonly [...Described<Value>, otherwise: string]
) => parameter<Value>('option', [placeholder, help, parse], { otherwise });

export const flag = (help: string) => parameter<boolean>('flag', ['', help, text]);

export const list = <Value>(...described: Described<Value>) =>
  parameter<Value[] | undefined>('list', described);

export const choice =
  <const Choice extends string>(choices: readonly Choice[]): Parse<Choice> =>
  (given) => {
    const found = choices.find((each) => each === given);
    if (found === undefined) throw new InvalidParameter(`must be one of ${choices.join(', ')}`);
    return found;
  };

export const wholeNumber =
  (min: number, max: number): Parse<number> =>
  (given) => {
    const number = /^\d{1,15}$/.test(given) ? Number(given) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidParameter(`must be a whole number from ${min} to ${max}`);
  };

/** A check of parameters that belong together, by how many of them are given. */
const given =
  (names: readonly string[], rule: string, isEnough: (count: number) => boolean) =>
  (values: object): string | undefined => {
    const all = Object.entries(values).filter(([name]) => names.includes(name));
    const count = all.filter(([, value]) => value !== undefined && value !== false).length;
    return isEnough(count) ? undefined : `Give ${rule} ${names.map(flagOf).join(', ')}`;
  };
export const exactlyOne = (...names: string[]) => given(names, 'exactly one of', (count) => count === 1);
export const atLeastOne = (...names: string[]) => given(names, 'at least one of', (count) => count > 0);

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;
export type ValuesOf<P extends Parameters> = {
  [Name in keyof P]: P[Name] extends Parameter<infer Value> ? Value : never;
};

/** Dependencies of every command, in addition to those of its program. */
export interface Output {
  isJson: boolean;
  /** Always. */
  print(text: string): void;
  /** Progress for people: nothing with `--json`. */
  progress(text: string): void;
}

export interface Command<Tools> {
  /** One or two words. */
  name: string;
  summary: string;
  parameters: Parameters;
  run(tools: Tools & Output, values: never): Promise<CommandResult>;
  /** Faults of the values together, as a sentence without its period. */
  check?: (values: never) => string | undefined;
  /** Runs without opening anything. */
  isAlone?: true;
}

/** Makes the commands of one program: the values of each are typed by its parameters. */
export const commandsOf =
  <Tools>() =>
  <P extends Parameters>(
    name: string,
    summary: string,
    parameters: P,
    run: (tools: Tools & Output, values: ValuesOf<P>) => Promise<CommandResult>,
    check?: (values: ValuesOf<P>) => string | undefined,
  ): Command<Tools> =>
    check === undefined ? { name, summary, parameters, run } : { name, summary, parameters, run, check };

export interface Program<Tools> {
  /** As it is called: `npm run tollgate --`. */
  call: string;
  summary: string;
  commands: readonly Command<Tools>[];
  /** Of every command. */
  options?: Parameters;
}

export interface CommandLineDeps<Tools> {
  /** Called once, and only for a command that is called correctly, with the values of all its parameters. */
  open(values: Values): Promise<Opened<Tools>> | Opened<Tools>;
  print(text: string): void;
  /** For the error message. */
  complain(text: string): void;
}

interface Opened<Tools> {
  tools: Tools;
  close: () => Promise<void> | void;
}

/** Runs one command line and returns the exit code: 0 done, 1 refused, 2 called wrongly. @throws our own faults */
export async function runProgram<Tools>(
  argv: readonly string[],
  program: Program<Tools>,
  deps: CommandLineDeps<Tools>,
): Promise<number> {
  let result: CommandResult = { kind: 'printed' };
  const cli = createCli(program, deps, async (command, values) => {
    result = await runCommand(command, values, deps);
  });
  try {
    await cli.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof TollgateError)) throw error;
    result = refuse(error.message);
  }
  return report(result, deps, argv.includes('--json'));
}

/** By the names of parameters. */
type Values = Readonly<Record<string, unknown>>;

async function runCommand<Tools>(
  command: Command<Tools>,
  [options, values]: readonly [ofProgram: Values, ofCommand: Values],
  { open, print }: CommandLineDeps<Tools>,
): Promise<CommandResult> {
  const problem = command.check?.(values as never);
  if (problem !== undefined) return { kind: 'usage', message: `${problem}; see --help.` };
  const isJson = options['json'] === true;
  const output: Output = { isJson, print, progress: isJson ? () => undefined : print };
  if (command.isAlone === true) return command.run(output as Tools & Output, values as never);
  const { tools, close } = await open({ ...options, ...values });
  try {
    return await command.run({ ...tools, ...output }, values as never);
  } finally {
    await close();
  }
}

function report(
  result: CommandResult,
  { print, complain }: Pick<CommandLineDeps<never>, 'print' | 'complain'>,
  isJson: boolean,
): number {
  if (result.kind === 'printed') return 0;
  if (result.kind === 'done') {
    print(`${isJson && result.json !== undefined ? JSON.stringify(result.json) : result.text}\n`);
    return result.exitCode ?? 0;
  }
  complain(`${result.message}\n`);
  return result.kind === 'usage' ? 2 : 1;
}

const json = flag('print the result as one line of JSON');

function createCli<Tools>(
  { call, summary, commands, options }: Program<Tools>,
  { print, complain }: Pick<CommandLineDeps<Tools>, 'print' | 'complain'>,
  run: (command: Command<Tools>, values: readonly [Values, Values]) => Promise<void>,
): Cli {
  const root = new Cli(call)
    .description(summary)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: print,
      writeErr: complain,
      outputError: (text, write) => write(`${toSentence(text)}\n`),
    });
  const global: Parameters = { json, ...options };
  addParameters(root, global);
  for (const command of commands) {
    const cli = command.name
      .split(' ')
      .reduce(
        (parent, word) => parent.commands.find((each) => each.name() === word) ?? parent.command(word),
        root,
      );
    addParameters(cli.description(command.summary), command.parameters);
    cli.action(() => run(command, [valuesOf(cli, global), valuesOf(cli, command.parameters)]));
  }
  for (const group of root.commands)
    if (group.description() === '') group.description(group.commands.map((each) => each.name()).join(', '));
  return root;
}

function addParameters(cli: Cli, parameters: Parameters): void {
  for (const [name, parameter] of Object.entries(parameters)) {
    const { kind, placeholder, help, parse, isRequired = false, otherwise } = parameter;
    if (kind === 'argument') {
      const shown = isRequired ? `<${placeholder}>` : `[${placeholder}]`;
      cli.addArgument(new Argument(shown, help).argParser(parse));
    } else {
      const shown = { option: ` <${placeholder}>`, list: ` <${placeholder}...>`, flag: '' }[kind];
      const added = new Option(`${flagOf(name)}${shown}`, help).makeOptionMandatory(isRequired);
      if (kind === 'option') added.argParser(parse);
      if (kind === 'list')
        added.argParser((given, before: unknown[] | undefined) => [...(before ?? []), parse(given)]);
      if (otherwise !== undefined) added.default(parse(otherwise), otherwise);
      cli.addOption(added);
    }
  }
}

function valuesOf(cli: Cli, parameters: Parameters): Values {
  const options = cli.optsWithGlobals<Record<string, unknown>>();
  const places = cli.processedArgs.values();
  const values = Object.entries(parameters).map(([name, { kind }]) => {
    if (kind === 'argument') return [name, places.next().value as unknown];
    return [name, kind === 'flag' ? options[name] === true : options[name]];
  });
  return Object.fromEntries(values) as Values;
}

const flagOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** One sentence of Commander's error, which repeats what was given. */
function toSentence(error: string): string {
  const [problem = '', hint] = printable(
    error
      .trim()
      .replace(/^error: /, '')
      .replaceAll('\n', ' '),
  )
    .replaceAll(/'([^']{60})[^']*'/g, "'$1…'")
    .split(/ \((?=Did you mean)/);
  const sentence = `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`
    .replace(/\.$/, '')
    .replaceAll('. ', ': ');
  return hint === undefined
    ? `${sentence}; see --help.`
    : `${sentence}. ${hint.replace(/\)$/, '')} See --help.`;
}

/** A terminal obeys the control characters that are written to it. */
export const printable = (given: string): string => given.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
