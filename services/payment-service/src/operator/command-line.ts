/** The operator's command line: `npm run payment-service -- <command>`. */
import { Command, CommanderError, Option } from 'commander';
import { environments, type Environment } from '../config.ts';
import { approvals, type Approval } from '../storage/merchants-table.ts';
import type { MerchantOverview, OperatorOperations, OperatorRefusal } from './operations.ts';

export interface CommandLineDeps {
  /** Opens the data folder; called once, and only where the arguments are right. */
  open: () => { operations: OperatorOperations; close: () => void };
  /** For what was asked for. */
  print: (text: string) => void;
  /** For the one sentence that says what is wrong. */
  complain: (text: string) => void;
}

/** How a command ended: done, refused as things stand, or called wrongly. */
const exitCodes = { done: 0, not_now: 1, bad_argument: 2 } as const;

/** Runs one command and gives the exit code of the process. Rejects where the data folder cannot be used. */
export async function runOperatorCommand(argv: readonly string[], deps: CommandLineDeps): Promise<number> {
  let exitCode: number = exitCodes.done;
  const run = async (work: (operations: OperatorOperations) => Promise<string | OperatorRefusal>) => {
    const { operations, close } = deps.open();
    try {
      const result = await work(operations);
      if (typeof result === 'string') {
        deps.print(`${result}\n`);
      } else {
        deps.complain(`${result.message}\n`);
        exitCode = exitCodes[result.refused];
      }
    } finally {
      close();
    }
  };
  if (argv.length === 0) {
    deps.complain('<command> is missing: give one of those that --help lists.\n');
    return exitCodes.bad_argument;
  }
  try {
    await createProgram(run, deps).parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.done;
    deps.complain(`${toSentence(error.message)}\n`);
    return exitCodes.bad_argument;
  }
  return exitCode;
}

type Run = (work: (operations: OperatorOperations) => Promise<string | OperatorRefusal>) => Promise<void>;

function createProgram(run: Run, { print }: CommandLineDeps): Command {
  const program = new Command('npm run payment-service --')
    .description(
      'Registers the merchants of the Payment Service in TOLLGATE_DATA_DIR (.data); the service may be running, and follows at once.\nThe service itself is started with: node services/payment-service/src/main.ts',
    )
    // Before the subcommands, which inherit these.
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: print, writeErr: () => undefined });
  addMerchantCommands(program, run);
  addKeyCommands(program, run);
  return program;
}

function addMerchantCommands(program: Command, run: Run): void {
  program
    .command('register <name>')
    .description('register a merchant, with a key of the sandbox')
    .action((name: string) =>
      run(async (operations) => {
        const result = await operations.register(name);
        return result.refused === undefined ? keyNotice(`Registered ${name}.`, 'sandbox', result) : result;
      }),
    );
  const approve = program
    .command('approve <name>')
    .description('record approvals of a merchant; all three are needed before it gets a production key');
  for (const kind of approvals) approve.option(`--${kind}`, `the ${kind} approval`);
  approve.action((name: string, options: Partial<Record<Approval, boolean>>) => {
    const kinds = approvals.filter((kind) => options[kind]);
    if (kinds.length === 0)
      approve.error("error: missing option '--compliance', '--commercial' or '--technical'");
    return run(async (operations) => {
      const result = await operations.approve(name, kinds);
      return result.refused === undefined ? approvalNotice(name, kinds, result.missing) : result;
    });
  });
  program
    .command('set <name>')
    .description('change a setting of a merchant, in both environments')
    .addOption(
      new Option('--unique-order-number <on|off>', 'refuse a second payment with the same orderNumber')
        .choices(['on', 'off'])
        .makeOptionMandatory(),
    )
    .action((name: string, { uniqueOrderNumber }: { uniqueOrderNumber: 'on' | 'off' }) =>
      run(async (operations) => {
        const result = await operations.setUniqueOrderNumber(name, uniqueOrderNumber === 'on');
        return result.refused === undefined
          ? `${name} now has --unique-order-number ${uniqueOrderNumber}.`
          : result;
      }),
    );
  program
    .command('list')
    .description('show merchants, approvals and keys')
    .action(() => run(async (operations) => toTable(operations.list())));
}

function addKeyCommands(program: Command, run: Run): void {
  program
    .command('issue-key <name>')
    .description('give a merchant a further key, which is shown once')
    .addOption(
      new Option('--environment <environment>', 'where the key is valid')
        .choices(environments)
        .makeOptionMandatory(),
    )
    .action((name: string, { environment }: { environment: Environment }) =>
      run(async (operations) => {
        const result = await operations.issueKey(name, environment);
        return result.refused === undefined ? keyNotice(`A key for ${name}.`, environment, result) : result;
      }),
    );
  program
    .command('revoke-key <key>')
    .description('take a key away: its identifier (key_…), the beginning of either, or the whole key')
    .action((which: string) =>
      run(async (operations) => {
        const result = await operations.revokeKey(which);
        return result.refused === undefined ? `Revoked ${result.keyId}: it is refused from now on.` : result;
      }),
    );
}

function keyNotice(
  first: string,
  environment: Environment,
  { keyId, key }: { keyId: string; key: { reveal: () => string } },
): string {
  return `${first}
  environment  ${environment}
  key id       ${keyId}
  key          ${key.reveal()}
Keep the key now: it is not shown again.`;
}

function approvalNotice(name: string, kinds: readonly Approval[], missing: readonly Approval[]): string {
  const rest = missing.length === 0 ? 'it may have a production key' : `still missing: ${missing.join(', ')}`;
  return `Recorded for ${name}: ${kinds.join(', ')}; ${rest}.`;
}

function toTable(merchants: readonly MerchantOverview[]): string {
  if (merchants.length === 0) return 'No merchant is registered.';
  return merchants.map(toLines).join('\n');
}

function toLines({ name, uniqueOrderNumber, approvals: granted, keys }: MerchantOverview): string {
  const facts = `approved: ${granted.join(', ') || 'none'}; unique order number: ${uniqueOrderNumber ? 'on' : 'off'}`;
  const lines = keys.map(({ environment, keyId, shown, createdAt, revokedAt }) =>
    [
      ' ',
      environment.padEnd(10),
      keyId,
      `${shown}…`.padEnd(25),
      `issued ${day(createdAt)}${revokedAt === undefined ? '' : `, revoked ${day(revokedAt)}`}`,
    ].join(' '),
  );
  return [`${name} (${facts})`, ...lines].join('\n');
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The parser's complaints are up to three sentences. */
function toSentence(message: string): string {
  const text = message
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replaceAll('. ', ': ')
    .replace(': Allowed choices', ': allowed choices');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}; --help tells more.`;
}
