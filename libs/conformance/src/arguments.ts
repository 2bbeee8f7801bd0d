/** The command line of `npm run conformance`. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Basis } from './conformance-test.ts';

/** As parsed by Commander: an absent option without a default is undefined. */
interface Options {
  baseUrl: string | undefined;
  key: string | undefined;
  ca: string | undefined;
  httpUrl: string | undefined;
  otherKey: string | undefined;
  currency: string;
  idempotencyKeys?: boolean;
  sandbox?: boolean;
  sandboxUrl?: string;
  sandboxKey?: string;
  moveClock?: boolean;
  callbackHost: string;
  callbacks: boolean;
  only?: Basis;
  /** Parts of names; a test must have one of them. */
  grep?: readonly string[];
  /** Parts of names; tests with one of them are skipped. */
  skip?: readonly string[];
  list?: boolean;
  json?: boolean;
  patience: number;
  timeout: number;
}

/** Which tests are meant. */
export type Selection = Pick<Options, 'only' | 'grep' | 'skip' | 'json'>;

export interface Arguments extends Selection, Pick<Options, 'ca' | 'httpUrl' | 'otherKey' | 'currency'> {
  baseUrl: string;
  key: string;
  /** Undefined if the sandbox controls must not be used. */
  sandbox: { url: string; key: string; isElsewhere: boolean; mayMoveClock: boolean } | undefined;
  /** Undefined if callbacks cannot reach this machine. */
  callbackHost: string | undefined;
  sendsIdempotencyKeys: boolean;
  patienceMs: number;
  totalTimeoutMs: number;
}

export type Parsed =
  | { kind: 'run'; arguments: Arguments }
  | { kind: 'list'; selection: Selection }
  | { kind: 'help'; help: string }
  /** One sentence that names the argument at fault. */
  | { kind: 'problem'; problem: string };

const examples = `
Examples
  npm run conformance -- --base-url https://127.0.0.1:4443 --key sk_sandbox_… --ca ca.pem --sandbox
  npm run conformance -- --base-url https://pay.example --key sk_sandbox_… --only specification --no-callbacks
  npm run conformance -- --list --grep §6

Ends with 0 when all tests passed that were run, 1 when one failed, 2 when it could not run.`;

// Keys are checked after the parsing: Commander's errors repeat a value.
const createProgram = (print: (text: string) => void): Command =>
  new Command('npm run conformance --')
    .usage('--base-url <url> --key <key> [options]')
    .description(
      "Tests a service against the specification of the Payment Service's interface, from outside.",
    )
    .optionsGroup('The service')
    .option('--base-url <url>', 'its address, with scheme and port', toUrl)
    .option('--key <key>', 'a private key of its sandbox; or the variable CONFORMANCE_KEY')
    .option('--ca <file>', 'PEM file of the authority that has signed its certificate')
    .option('--http-url <url>', 'its address over plain HTTP, which must reject everything', toPlainUrl)
    .option('--other-key <key>', 'a key of the other environment, which must be rejected')
    .option('--currency <code>', 'currency of the payments', toCurrency, 'EUR')
    .option('--idempotency-keys', 'send a new Idempotency-Key with each POST, where the service wants one')
    .optionsGroup('The customer, whom the sandbox controls play')
    .option('--sandbox', 'use them, at the base URL')
    .option('--sandbox-url <url>', 'use them at another address, which the service forwards to', toUrl)
    .option('--sandbox-key <key>', 'the key for that address; or the variable CONFORMANCE_SANDBOX_KEY')
    .option('--move-clock', 'let time pass in the sandbox; this expires all its open payments')
    .optionsGroup('The callbacks')
    .addOption(
      new Option('--callback-host <host>', 'the name of this machine for the service')
        .default('127.0.0.1')
        .argParser(toHost)
        .conflicts('callbacks'),
    )
    .option('--no-callbacks', 'the service cannot reach this machine')
    .optionsGroup('Which tests, and how')
    .addOption(
      new Option('--only <basis>', 'what is specified, or what it leaves open and we decided').choices([
        'specification',
        'decision',
      ]),
    )
    .option('--grep <text>', 'tests with this in their name; may be given several times', collect)
    .option('--skip <text>', 'all but these; may be given several times', collect)
    .option('--list', 'print their names and stop')
    .option('--json', 'print one JSON document at the end')
    .option('--patience <seconds>', 'how long to wait for a status or a callback', toSeconds, 10)
    .option('--timeout <seconds>', 'for the whole run', toSeconds, 600)
    .addHelpText('after', examples)
    .allowExcessArguments()
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: print, writeErr: () => undefined });

type Environment = Readonly<Partial<Record<'CONFORMANCE_KEY' | 'CONFORMANCE_SANDBOX_KEY', string>>>;
/** @throws CommanderError */
type Fail = (problem: string) => never;

export function parseArguments(argv: readonly string[], environment: Environment): Parsed {
  let help = '';
  const program = createProgram((text) => (help += text));
  const fail: Fail = (problem) => program.error(problem);
  try {
    const options = program.parse(argv, { from: 'user' }).opts<Options>();
    const [excess] = program.args;
    if (excess !== undefined) fail(`unexpected argument '${excess}'`);
    if (options.list) return { kind: 'list', selection: options };
    return { kind: 'run', arguments: readArguments(options, environment, fail) };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? { kind: 'help', help } : { kind: 'problem', problem: toSentence(error) };
  }
}

function readArguments(options: Options, environment: Environment, fail: Fail): Arguments {
  const { baseUrl, otherKey, idempotencyKeys: sendsIdempotencyKeys = false, ...rest } = options;
  if (baseUrl === undefined)
    return fail('--base-url is missing: give the address of the service, such as https://127.0.0.1:4443');
  const key = checkKey('--key', options.key ?? environment.CONFORMANCE_KEY, fail);
  if (key === undefined)
    return fail('--key is missing: give a private key of the sandbox, or set CONFORMANCE_KEY');
  return {
    ...rest,
    baseUrl,
    key,
    sendsIdempotencyKeys,
    httpUrl: rest.httpUrl ?? (baseUrl.startsWith('http:') ? baseUrl : undefined),
    otherKey: checkKey('--other-key', otherKey, fail),
    sandbox: readSandbox(options, environment, { url: baseUrl, key }, fail),
    callbackHost: rest.callbacks ? rest.callbackHost : undefined,
    patienceMs: rest.patience * 1000,
    totalTimeoutMs: rest.timeout * 1000,
  };
}

function readSandbox(
  { sandbox, sandboxUrl: url, sandboxKey, moveClock: mayMoveClock = false }: Options,
  environment: Environment,
  base: { url: string; key: string },
  fail: Fail,
): Arguments['sandbox'] {
  if (url === undefined) {
    if (sandboxKey !== undefined) fail('--sandbox-key needs --sandbox-url: at the base URL, --key is used');
    if (sandbox) return { ...base, isElsewhere: false, mayMoveClock };
    return mayMoveClock ? fail('--move-clock needs --sandbox or --sandbox-url') : undefined;
  }
  const key = checkKey('--sandbox-key', sandboxKey ?? environment.CONFORMANCE_SANDBOX_KEY, fail);
  if (key === undefined)
    return fail('--sandbox-key is missing: --sandbox-url needs it, or CONFORMANCE_SANDBOX_KEY');
  return { url, key, isElsewhere: url !== base.url, mayMoveClock };
}

function checkKey(name: string, value: string | undefined, fail: Fail): string | undefined {
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
  return fail(`${name} is empty, or no key: it has spaces or letters beyond ASCII`);
}

/** Without a trailing slash, so that paths can be appended. */
function toUrl(value: string): string {
  if (!/^https?:\/\/[^/?#\s]/i.test(value) || !URL.canParse(value))
    throw new InvalidArgumentError('It is no http or https URL.');
  const { username, search, hash, origin, pathname } = new URL(value);
  if (username !== '' || search !== '' || hash !== '')
    throw new InvalidArgumentError('It has more than an address and a path.');
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

function toPlainUrl(value: string): string {
  const url = toUrl(value);
  if (url.startsWith('https:'))
    throw new InvalidArgumentError('It is for plain HTTP and begins with http://.');
  return url;
}

const matching = (pattern: RegExp, problem: string) => (value: string) => {
  if (!pattern.test(value)) throw new InvalidArgumentError(problem);
  return value;
};
const toHost = matching(/^[A-Za-z0-9.:-]+$/, 'It is no name or address of a machine.');
const toCurrency = matching(/^[A-Z]{3}$/, 'It is no alphabetic code such as EUR.');

function toSeconds(value: string): number {
  const seconds = Number(value);
  if (!/^\d+(\.\d+)?$/.test(value) || seconds <= 0 || seconds > 86_400)
    throw new InvalidArgumentError('It is no number of seconds above 0 and up to a day.');
  return seconds;
}

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Commander's errors are up to two sentences. The text after `=` in a misspelled option may be a key. */
function toSentence({ message }: CommanderError): string {
  const text = message
    .replace(/^error: /, '')
    .replace(/^(unknown option '[^=]*)=.*/s, "$1=…'")
    .replace(/\.$/, '')
    .replaceAll('. ', ': ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}; see --help.`;
}
