/** `npm run conformance`: its options, a line for each test, and the totals. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { CannotRun, runSuite, type SuiteDeps, type SuiteOptions, type TestResult } from './suite.ts';

type Options = SuiteOptions & { json?: boolean };

export interface CommandDeps extends Omit<SuiteDeps, 'onResult'> {
  print: (text: string) => void;
  /** For failures that prevent the run. */
  complain: (text: string) => void;
}

/** 0: all tests passed that were run. 1: one failed. 2: the suite could not run. */
export type ExitCode = 0 | 1 | 2;

const examples = `
Examples
  npm run conformance -- --base-url https://127.0.0.1:4443 --key sk_sandbox_… --ca ca.pem --sandbox
  npm run conformance -- --base-url https://pay.example --key sk_sandbox_… --only specification --no-callbacks

Ends with 0 when all tests passed that were run, 1 when one failed, 2 when it could not run.`;

const createProgram = ({ print, complain }: CommandDeps): Command =>
  new Command('npm run conformance --')
    .usage('--base-url <url> --key <key> [options]')
    .description(
      "Tests a service against the specification of the Payment Service's interface, from outside.",
    )
    .requiredOption('--base-url <url>', 'address of the service, with scheme and port', toUrl)
    .addOption(
      new Option('--key <key>', 'private key of its sandbox').env('CONFORMANCE_KEY').makeOptionMandatory(),
    )
    .option('--ca <file>', 'authority of its certificate, in addition to the public ones')
    .option('--http-url <url>', 'its address of plain HTTP, which must reject every call', toUrl)
    .option('--other-key <key>', 'a key of the other environment, which must be rejected here')
    .option('--currency <code>', 'currency of the payments', 'EUR')
    .option('--idempotency-keys', 'send an Idempotency-Key with each POST')
    .option('--sandbox', 'use the sandbox controls at the base URL, to act as the customer')
    .option(
      '--sandbox-url <url>',
      'the same at another address, for a service in front of the sandbox',
      toUrl,
    )
    .addOption(
      new Option('--sandbox-key <key>', 'private key at that address').env('CONFORMANCE_SANDBOX_KEY'),
    )
    .option('--move-clock', "move the sandbox's clock, which expires its open payments")
    .option('--callback-host <host>', 'name or address of this machine for the service', '127.0.0.1')
    .option('--no-callbacks', 'the service cannot reach this machine')
    .addOption(
      new Option('--only <basis>', 'only tests of this basis').choices(['specification', 'decision']),
    )
    .option('--grep <text>', 'tests with this in their name; may be given several times', collect)
    .option('--skip <text>', 'all but these; may be given several times', collect)
    .option('--json', 'print one JSON document at the end')
    .option('--patience <seconds>', 'how long to wait for a status or a callback', toSeconds, 10)
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: complain,
      // The text after `=` in a misspelled option may be a key.
      outputError: (text, write) => write(text.replace(/(unknown option '[^=]*)=.*/s, "$1=…'\n")),
    });

export async function runCommand(argv: readonly string[], deps: CommandDeps): Promise<ExitCode> {
  try {
    const program = createProgram(deps).parse(argv, { from: 'user' });
    const options = program.opts<Options>();
    const { sandbox, sandboxUrl, sandboxKey, moveClock } = options;
    if (sandboxUrl !== undefined && sandboxKey === undefined)
      program.error('--sandbox-url needs --sandbox-key');
    if (moveClock && !sandbox && sandboxUrl === undefined) program.error('--move-clock needs --sandbox');
    return await run(options, deps);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof CannotRun)) throw error;
    deps.complain(`${error.message}\n`);
    return 2;
  }
}

async function run({ json, ...options }: Options, { print, ...deps }: CommandDeps): Promise<ExitCode> {
  const onResult = (result: TestResult) => {
    if (!json) print(`${lineOf(result)}\n`);
  };
  const results = await runSuite(options, { ...deps, onResult });
  const countOf = (outcome: TestResult['outcome']) =>
    results.filter((result) => result.outcome === outcome).length;
  const [passed, failed, notRun] = [countOf('passed'), countOf('failed'), countOf('not run')];
  const report = { baseUrl: options.baseUrl, passed, failed, notRun, results };
  print(
    `${json ? JSON.stringify(report, null, 2) : `${passed} passed, ${failed} failed, ${notRun} not run`}\n`,
  );
  return failed > 0 ? 1 : 0;
}

const marks = { passed: 'passed ', failed: 'FAILED ', 'not run': 'not run' } as const;

/** With the reason in a second line unless the test passed. */
function lineOf({ name, basis, outcome, durationMs, reason, relies }: TestResult): string {
  const title = basis === 'decision' ? `${name} (decision)` : name;
  const line = `${marks[outcome]} ${title} (${durationMs} ms)`;
  if (reason === undefined) return line;
  const decided = relies === undefined ? '' : `\n        This relies on a decision: ${relies}.`;
  return `${line}\n        ${reason}${outcome === 'failed' ? decided : ''}`;
}

/** Without a trailing slash, so that paths can be appended. */
function toUrl(value: string): string {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.search + url.hash !== '')
    throw new InvalidArgumentError('It must be an http or https URL without user name, query and fragment.');
  return url.href.replace(/\/+$/, '');
}

function toSeconds(value: string): number {
  const seconds = Number(value);
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds above 0 and up to a day.');
}

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
