/** The command line of `npm run conformance`. */
import { parseArgs } from 'node:util';
import type { Basis } from './conformance-test.ts';

export interface Arguments {
  baseUrl: string;
  key: string;
  caFile: string | undefined;
  httpUrl: string | undefined;
  otherKey: string | undefined;
  /** Undefined where the sandbox controls must not be used. */
  sandbox: { url: string; key: string; isElsewhere: boolean; mayMoveClock: boolean } | undefined;
  /** Undefined where callbacks cannot reach this machine. */
  callbackHost: string | undefined;
  currency: string;
  sendsIdempotencyKeys: boolean;
  patienceMs: number;
  totalTimeoutMs: number;
  selection: Selection;
  asJson: boolean;
}

/** Which tests are meant. */
export interface Selection {
  only: Basis | undefined;
  /** Parts of names; a test must have one of them. */
  grep: readonly string[];
  /** Parts of names; a test must have none of them. */
  skip: readonly string[];
}

export type Parsed =
  | { kind: 'run'; arguments: Arguments }
  | { kind: 'list'; selection: Selection; asJson: boolean }
  | { kind: 'help' }
  /** One sentence that names the argument at fault. */
  | { kind: 'problem'; problem: string };

export const usage = `npm run conformance -- --base-url <url> --key <key> [options]

Tests a service against the specification of the Payment Service's interface, from outside.

The service
  --base-url <url>       its address, with scheme and port
  --key <key>            a private key of its sandbox; or the variable CONFORMANCE_KEY
  --ca <file>            PEM file of the authority that has signed its certificate
  --http-url <url>       its address over plain HTTP, which must reject everything
  --other-key <key>      a key of the other environment, which must be rejected
  --currency <code>      currency of the payments (EUR)
  --idempotency-keys     send a new Idempotency-Key with each POST, for a service that wants one

The customer, whom the sandbox controls play
  --sandbox              use them, at the base URL
  --sandbox-url <url>    they are at another address: the service under test stands in front of it
  --sandbox-key <key>    the key for that address; or the variable CONFORMANCE_SANDBOX_KEY
  --move-clock           let time pass in the sandbox; this expires every open payment that it has

The callbacks
  --callback-host <host> the name of this machine for the service (127.0.0.1)
  --no-callbacks         the service cannot reach this machine

Which tests, and how
  --only <basis>         specification or decision: what is specified, or what it leaves open and we decided
  --grep <text>          tests with this in their name; may be given several times
  --skip <text>          all but these; may be given several times
  --list                 print their names and stop
  --json                 print one JSON document at the end
  --patience <seconds>   how long to wait for a status or a callback (10)
  --timeout <seconds>    for the whole run (600)

Examples
  npm run conformance -- --base-url https://127.0.0.1:4443 --key sk_sandbox_… --ca ca.pem --sandbox
  npm run conformance -- --base-url https://pay.example --key sk_sandbox_… --only specification --no-callbacks
  npm run conformance -- --list --grep §6

Ends with 0 when all tests passed that were run, 1 when one failed, 2 when it could not run.
`;

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;
const options = {
  'base-url': text,
  key: text,
  ca: text,
  'http-url': text,
  'other-key': text,
  currency: text,
  'idempotency-keys': flag,
  sandbox: flag,
  'sandbox-url': text,
  'sandbox-key': text,
  'move-clock': flag,
  'callback-host': text,
  'no-callbacks': flag,
  only: text,
  grep: texts,
  skip: texts,
  list: flag,
  json: flag,
  patience: text,
  timeout: text,
  help: { type: 'boolean', short: 'h' },
} as const;

/** What is wrong with an argument; never leaves this file. */
class Problem extends Error {}

type Environment = Readonly<Partial<Record<'CONFORMANCE_KEY' | 'CONFORMANCE_SANDBOX_KEY', string>>>;
type Values = ReturnType<typeof parseValues>;

export function parseArguments(argv: readonly string[], environment: Environment): Parsed {
  try {
    const values = parseValues(argv);
    if (values.help === true) return { kind: 'help' };
    const selection = readSelection(values);
    if (values.list === true) return { kind: 'list', selection, asJson: values.json === true };
    return { kind: 'run', arguments: readArguments(values, selection, environment) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { kind: 'problem', problem: error.message };
  }
}

function parseValues(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: false }).values;
  } catch (error) {
    const { message } = error as Error;
    const [first = message] = message.split(/\. To specify|\. This command|\n/);
    throw new Problem(`${first.replace(/\.$/, '')}; --help lists all options.`);
  }
}

function readArguments(values: Values, selection: Selection, environment: Environment): Arguments {
  const baseUrl = readUrl('--base-url', values['base-url']);
  if (baseUrl === undefined)
    throw new Problem(
      '--base-url is missing: give the address of the service, such as https://127.0.0.1:4443.',
    );
  const key = readKey('--key', values.key ?? environment.CONFORMANCE_KEY);
  if (key === undefined)
    throw new Problem('--key is missing: give a private key of the sandbox, or set CONFORMANCE_KEY.');
  const isPlain = baseUrl.startsWith('http:');
  return {
    ...{ baseUrl, key, selection },
    caFile: values.ca,
    httpUrl: readPlainUrl(values['http-url']) ?? (isPlain ? baseUrl : undefined),
    otherKey: readKey('--other-key', values['other-key']),
    sandbox: readSandbox(values, environment, { baseUrl, key }),
    callbackHost: readCallbackHost(values),
    currency: readCurrency(values.currency ?? 'EUR'),
    sendsIdempotencyKeys: values['idempotency-keys'] === true,
    patienceMs: readSeconds('--patience', values.patience ?? '10') * 1000,
    totalTimeoutMs: readSeconds('--timeout', values.timeout ?? '600') * 1000,
    asJson: values.json === true,
  };
}

function readSandbox(
  values: Values,
  environment: Environment,
  base: { baseUrl: string; key: string },
): Arguments['sandbox'] {
  const elsewhere = readUrl('--sandbox-url', values['sandbox-url']);
  const mayMoveClock = values['move-clock'] === true;
  if (elsewhere === undefined) {
    if (values['sandbox-key'] !== undefined)
      throw new Problem('--sandbox-key needs --sandbox-url: at the base URL, --key is used.');
    if (values.sandbox === true)
      return { url: base.baseUrl, key: base.key, isElsewhere: false, mayMoveClock };
    if (mayMoveClock) throw new Problem('--move-clock needs --sandbox or --sandbox-url.');
    return undefined;
  }
  const key = readKey('--sandbox-key', values['sandbox-key'] ?? environment.CONFORMANCE_SANDBOX_KEY);
  if (key === undefined)
    throw new Problem('--sandbox-key is missing: --sandbox-url needs it, or CONFORMANCE_SANDBOX_KEY.');
  return { url: elsewhere, key, isElsewhere: elsewhere !== base.baseUrl, mayMoveClock };
}

function readSelection({ only, grep = [], skip = [] }: Values): Selection {
  if (only !== undefined && only !== 'specification' && only !== 'decision')
    throw new Problem(`--only is specification or decision, not ${JSON.stringify(only)}.`);
  return { only, grep, skip };
}

/** Without a slash at the end, so that paths can be put behind it. */
function readUrl(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!/^https?:\/\/[^/?#\s]/i.test(value) || !URL.canParse(value))
    throw new Problem(`${name} is no http or https URL: ${JSON.stringify(value)}.`);
  const { username, search, hash, origin, pathname } = new URL(value);
  if (username !== '' || search !== '' || hash !== '')
    throw new Problem(`${name} has more than an address and a path: ${JSON.stringify(value)}.`);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

function readPlainUrl(value: string | undefined): string | undefined {
  const url = readUrl('--http-url', value);
  if (url?.startsWith('https:')) throw new Problem('--http-url is for plain HTTP: it begins with http://.');
  return url;
}

function readKey(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new Problem(`${name} is empty, or no key: it has spaces or letters beyond ASCII.`);
  return value;
}

function readCallbackHost(values: Values): string | undefined {
  const { 'callback-host': host, 'no-callbacks': none = false } = values;
  if (none && host !== undefined) throw new Problem('--callback-host and --no-callbacks exclude each other.');
  if (none) return undefined;
  if (host !== undefined && !/^[A-Za-z0-9.:-]+$/.test(host))
    throw new Problem(`--callback-host is the name or address of this machine, not ${JSON.stringify(host)}.`);
  return host ?? '127.0.0.1';
}

function readCurrency(value: string): string {
  if (!/^[A-Z]{3}$/.test(value))
    throw new Problem(`--currency is an alphabetic code such as EUR, not ${JSON.stringify(value)}.`);
  return value;
}

function readSeconds(name: string, value: string): number {
  const seconds = Number(value);
  if (!/^\d+(\.\d+)?$/.test(value) || seconds <= 0 || seconds > 86_400)
    throw new Problem(`${name} is a number of seconds above 0, not ${JSON.stringify(value)}.`);
  return seconds;
}
