/**
 * Our command lines: a table of commands, read with `node:util`'s parseArgs. A wrong call opens nothing, ends with exit code
 * 2, and is reported as one sentence that names the parameter.
 */
import { didYouMean } from './did-you-mean.ts';
import { parseArgs } from 'node:util';
import { TollgateError } from './errors.ts';

export type CommandResult =
  /** `json` replaces `text` with `--json`. `exitCode` 1: something that the command checks is not as it should be. */
  | { kind: 'done'; text: string; json?: unknown; exitCode?: 0 | 1 }
  /** Done, and everything was printed piece by piece. */
  | { kind: 'printed' }
  | CommandRefusal;

/** `refused`: impossible at the moment. `usage`: called wrongly. */
interface CommandRefusal {
  kind: 'refused' | 'usage';
  message: string;
}

export const done = (text: string, json?: unknown, exitCode: 0 | 1 = 0): CommandResult => ({
  kind: 'done',
  text,
  json,
  exitCode,
});
export const refuse = (message: string): CommandResult => ({ kind: 'refused', message });

/** A value that a parameter cannot have. The message continues a sentence that begins with the parameter: "must be …". */
export class InvalidParameter extends Error {}

/** `argument`: by its place. `option`: `--name <value>`. `flag`: `--name`. `list`: `--name <value> <value>`, or repeated. */
export interface Parameter<Value> {
  kind: 'argument' | 'option' | 'flag' | 'list';
  /** Such as `<day>`; empty for a flag. */
  placeholder: string;
  help: string;
  isRequired: boolean;
  read(texts: readonly string[]): Value;
}

type Parse<Value> = (text: string) => Value;
type Read<Value> = (texts: readonly string[]) => Value;

/** The last of several counts. */
const required =
  <Value>(parse: Parse<Value>): Read<Value> =>
  (texts) =>
    parse(texts.at(-1) ?? '');
const optional =
  <Value>(parse: Parse<Value>): Read<Value | undefined> =>
  (texts) =>
    texts.length === 0 ? undefined : required(parse)(texts);

const parameter = <Value>(
  kind: Parameter<Value>['kind'],
  [placeholder, help]: readonly [placeholder: string, help: string],
  read: Read<Value>,
  isRequired = false,
): Parameter<Value> => ({ kind, placeholder, help, isRequired, read });

export const text: Parse<string> = (given) => given;

export const argument = <Value>(placeholder: string, meaning: string, parse: Parse<Value>) =>
  parameter('argument', [placeholder, meaning], required(parse), true);

/** `undefined` without the argument. */
export const optionalArgument = <Value>(placeholder: string, meaning: string, parse: Parse<Value>) =>
  parameter('argument', [placeholder, meaning], optional(parse));

/** `undefined` without the option. */
export const option = <Value>(placeholder: string, meaning: string, parse: Parse<Value>) =>
  parameter('option', [placeholder, meaning], optional(parse));

export const requiredOption = <Value>(placeholder: string, meaning: string, parse: Parse<Value>) =>
  parameter('option', [placeholder, meaning], required(parse), true);

export const optionOr = <Value>(
  placeholder: string,
  meaning: string,
  parse: Parse<Value>,
  otherwise: string,
): Parameter<Value> =>
  parameter('option', [placeholder, `${meaning} (default: ${otherwise})`], (texts) =>
    parse(texts.at(-1) ?? otherwise),
  );

export const flag = (meaning: string) => parameter('flag', ['', meaning], (texts) => texts.length > 0);

export const list = <Value>(placeholder: string, meaning: string, parse: Parse<Value>) =>
  parameter('list', [placeholder, meaning], (texts) => (texts.length === 0 ? undefined : texts.map(parse)));

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

/** Checks of parameters that belong together, by their names. */
export const exactlyOne =
  (...names: string[]) =>
  (values: object): string | undefined =>
    givenAmong(values, names) === 1 ? undefined : `Give exactly one of ${flagsOf(names)}`;
export const atLeastOne =
  (...names: string[]) =>
  (values: object): string | undefined =>
    givenAmong(values, names) > 0 ? undefined : `Give at least one of ${flagsOf(names)}`;

const givenAmong = (values: object, names: readonly string[]) =>
  Object.entries(values).filter(
    ([name, value]) => names.includes(name) && value !== undefined && value !== false,
  ).length;
const flagsOf = (names: readonly string[]) => names.map(flagOf).join(', ');

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
  open(values: Readonly<Record<string, unknown>>): Promise<Opened<Tools>> | Opened<Tools>;
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
  const result = await callCommand(argv, program, deps).catch((error: unknown): CommandResult => {
    if (error instanceof UsageError)
      return {
        kind: 'usage',
        message: `${error.message}${error.message.endsWith('?') ? ' See' : '; see'} --help.`,
      };
    if (error instanceof TollgateError) return refuse(error.message);
    throw error;
  });
  if (result.kind === 'printed') return 0;
  if (result.kind === 'done') {
    const isJson = result.json !== undefined && argv.includes('--json');
    deps.print(`${isJson ? JSON.stringify(result.json) : result.text}\n`);
    return result.exitCode ?? 0;
  }
  deps.complain(`${result.message}\n`);
  return result.kind === 'usage' ? 2 : 1;
}

class UsageError extends Error {}

const json = flag('print the result as one line of JSON');
const help = flag('show this');

async function callCommand<Tools>(
  argv: readonly string[],
  program: Program<Tools>,
  { open, print }: CommandLineDeps<Tools>,
): Promise<CommandResult> {
  const global: Parameters = { json, ...program.options, help };
  const { words, command } = findCommand(positionalsOf(argv, global), program.commands);
  if (words[0] === 'help' || argv.slice(0, beforeTerminator(argv)).some(isHelp))
    return done(command ? commandHelp(program, command) : programHelp(program, words));
  if (command === undefined) throw new UsageError(unknownCommand(words, program.commands));
  const { options, values } = readValues(argv, command, global);
  const problem = command.check?.(values as never);
  if (problem !== undefined) throw new UsageError(problem);
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

const isHelp = (word: string) => word === '--help' || word === '-h';
const beforeTerminator = (argv: readonly string[]) =>
  argv.includes('--') ? argv.indexOf('--') : argv.length;

const flagOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** `--environment` or `<name>`, for sentences. */
const labelOf = (name: string, { kind, placeholder }: Parameter<unknown>) =>
  kind === 'argument' ? placeholder : flagOf(name);

function tokensOf(argv: readonly string[], parameters: Parameters) {
  const options = Object.entries(parameters)
    .filter(([, { kind }]) => kind !== 'argument')
    .map(([name, { kind }]) => {
      const type = kind === 'flag' ? ('boolean' as const) : ('string' as const);
      return [flagOf(name).slice(2), { type, multiple: true }] as const;
    });
  return parseArgs({
    args: [...argv],
    options: Object.fromEntries(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}

const positionalsOf = (argv: readonly string[], global: Parameters): string[] =>
  tokensOf(argv, global).flatMap((token) => (token.kind === 'positional' ? [token.value] : []));

function findCommand<Tools>(words: string[], commands: readonly Command<Tools>[]) {
  const named = words[0] === 'help' ? words.slice(1) : words;
  const find = (name: string) => commands.find((command) => command.name === name);
  return { words, command: find(named.slice(0, 2).join(' ')) ?? find(named[0] ?? '') };
}

function unknownCommand(words: readonly string[], commands: readonly Command<never>[]): string {
  const isGroup = commands.some(({ name }) => name.startsWith(`${words[0]} `));
  const unknown = isGroup ? words[1] : words[0];
  if (unknown === undefined) return 'A <command> is missing';
  const known = commands.flatMap(({ name }) => {
    const [first = '', second] = name.split(' ');
    if (!isGroup) return [first];
    return first === words[0] && second !== undefined ? [second] : [];
  });
  return `Unknown command ${quoted(unknown)}.${didYouMean(unknown, known)}`.replace(/\.$/, '');
}

/** A list takes all following arguments. */
function readValues(
  argv: readonly string[],
  command: Command<never>,
  global: Parameters,
): Record<'options' | 'values', Record<string, unknown>> {
  const parameters: Parameters = { ...global, ...command.parameters };
  const names = new Map(Object.keys(parameters).map((name) => [flagOf(name), name]));
  const texts = new Map<string, string[]>();
  const add = (name: string, given: string) => texts.set(name, [...(texts.get(name) ?? []), given]);
  const places = Object.keys(command.parameters).filter((name) => parameters[name]?.kind === 'argument');
  let toSkip = command.name.split(' ').length;
  let listed: string | undefined;
  for (const token of tokensOf(argv, parameters)) {
    if (token.kind === 'option') {
      const name = names.get(token.rawName);
      if (name === undefined)
        throw new UsageError(
          `Unknown option ${quoted(token.rawName)}.${didYouMean(token.rawName, [...names.keys()])}`.replace(
            /\.$/,
            '',
          ),
        );
      add(name, valueOf(name, parameters[name] as Parameter<unknown>, token));
      listed = parameters[name]?.kind === 'list' ? name : undefined;
    } else if (token.kind === 'positional') {
      if (toSkip > 0) toSkip -= 1;
      else {
        const name = listed ?? places.shift();
        if (name === undefined)
          throw new UsageError(`Unexpected argument ${quoted(token.value)} of '${command.name}'`);
        add(name, token.value);
      }
    } else listed = undefined;
  }
  const readAll = (all: Parameters) =>
    Object.fromEntries(
      Object.entries(all).map(([name, parameter]) => [name, readOne(name, parameter, texts.get(name) ?? [])]),
    );
  return { options: readAll(global), values: readAll(command.parameters) };
}

function valueOf(
  name: string,
  { kind, placeholder }: Parameter<unknown>,
  { value, inlineValue }: { value: string | undefined; inlineValue: boolean | undefined },
): string {
  if (kind === 'flag') {
    if (value !== undefined) throw new UsageError(`${flagOf(name)} takes no value`);
    return '';
  }
  if (value === undefined || (inlineValue !== true && /^-./.test(value)))
    throw new UsageError(`${flagOf(name)} needs a value, ${placeholder}`);
  return value;
}

function readOne(name: string, parameter: Parameter<unknown>, texts: readonly string[]): unknown {
  const label = labelOf(name, parameter);
  if (parameter.isRequired && texts.length === 0) throw new UsageError(`${label} is missing`);
  try {
    return parameter.read(texts);
  } catch (error) {
    if (!(error instanceof InvalidParameter)) throw error;
    throw new UsageError(`${label} ${error.message}: ${quoted(texts.at(-1) ?? '')}`);
  }
}

const shownMax = 60;
const quoted = (given: string) => `'${printable(given).slice(0, shownMax)}'`;

function programHelp<Tools>({ call, summary, commands }: Program<Tools>, words: readonly string[]): string {
  const group = words.find((word) => word !== 'help');
  const shown = commands.filter(({ name }) => name === group || name.startsWith(`${group} `));
  const rows = (shown.length > 0 ? shown : commands).map((command) => [usageOf(command), command.summary]);
  return `Usage: ${call} <command> [options]\n\n${summary}\n\n${inColumns(rows)}\n\n--json prints the result as one line of JSON; <command> --help shows the options of a command.`;
}

function commandHelp<Tools>(
  { call, options }: Program<Tools>,
  { name, summary, parameters }: Command<Tools>,
): string {
  const all = Object.entries({ ...parameters, json, ...options });
  const rows = all.map(([key, parameter]) => {
    const { kind, placeholder, isRequired } = parameter;
    const label = kind === 'argument' ? placeholder : `${flagOf(key)} ${placeholder}`.trim();
    return [label, `${parameter.help}${isRequired && kind !== 'argument' ? ' (required)' : ''}`];
  });
  return `Usage: ${call} ${usageOf({ name, parameters })} [options]\n\n${summary}\n\n${inColumns(rows)}`;
}

const usageOf = ({ name, parameters }: Pick<Command<never>, 'name' | 'parameters'>): string =>
  [
    name,
    ...Object.values(parameters).flatMap(({ kind, placeholder, isRequired }) =>
      kind !== 'argument' ? [] : [isRequired ? placeholder : `[${placeholder.slice(1, -1)}]`],
    ),
  ].join(' ');

function inColumns(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([label = '']) => label.length));
  const indent = `\n${' '.repeat(width + 4)}`;
  return rows
    .map(([label = '', meaning = '']) => `  ${label.padEnd(width)}  ${meaning.replaceAll('\n', indent)}`)
    .join('\n');
}

/** A terminal obeys the control characters that are written to it. */
export const printable = (given: string): string => given.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
