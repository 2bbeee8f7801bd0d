/** The operator's command line: `npm run payment-service -- <command>`. */
import {
  type CommandLineDeps,
  type CommandResult,
  type RunCommand,
  runProgram,
} from '@tollgate/service-kit/command-line';
import { Command, Option } from 'commander';
import { environments, type Environment } from '../config.ts';
import { approvals, type Approval } from '../storage/merchants-table.ts';
import type { MerchantOverview, OperatorOperations, Result } from './operations.ts';

type Run = RunCommand<OperatorOperations>;

/** Runs one command and gives the exit code of the process. Rejects with what is a fault of ours. */
export function runOperatorCommand(
  argv: readonly string[],
  deps: CommandLineDeps<OperatorOperations>,
): Promise<number> {
  const program = new Command('npm run payment-service --').description(
    'Manages the merchants of the Payment Service in TOLLGATE_DATA_DIR (.data); a running service follows at once.\nThe service itself is started with: npx node services/payment-service/src/main.ts',
  );
  const addCommands = (run: Run): void => {
    addMerchantCommands(program, run);
    addKeyCommands(program, run);
  };
  return runProgram(argv, program, addCommands, deps);
}

async function answer<Value>(
  result: Promise<Result<Value>>,
  toText: (value: Value) => string,
): Promise<CommandResult> {
  const value = await result;
  return value.kind === undefined ? { kind: 'done', text: toText(value) } : value;
}

function addMerchantCommands(program: Command, run: Run): void {
  program
    .command('register <name>')
    .description('register a merchant, with a key of the sandbox')
    .action((name: string) =>
      run((operations) =>
        answer(operations.register(name), (key) => keyNotice(`Registered ${name}.`, 'sandbox', key)),
      ),
    );
  const approve = program
    .command('approve <name>')
    .description('record approvals of a merchant; a production key needs all three');
  for (const kind of approvals) approve.option(`--${kind}`, `the ${kind} approval`);
  approve.action((name: string, options: Partial<Record<Approval, boolean>>) => {
    const kinds = approvals.filter((kind) => options[kind]);
    if (kinds.length === 0)
      approve.error("error: missing option '--compliance', '--commercial' or '--technical'");
    return run((operations) =>
      answer(operations.approve(name, kinds), ({ missing }) => approvalNotice(name, kinds, missing)),
    );
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
      run((operations) =>
        answer(
          operations.setUniqueOrderNumber(name, uniqueOrderNumber === 'on'),
          () => `${name} now has --unique-order-number ${uniqueOrderNumber}.`,
        ),
      ),
    );
  program
    .command('list')
    .description('show merchants, approvals and keys')
    .action(() => run(async (operations) => ({ kind: 'done', text: toTable(operations.list()) })));
}

function addKeyCommands(program: Command, run: Run): void {
  program
    .command('issue-key <name>')
    .description('issue a further key of a merchant and print it, this once')
    .addOption(
      new Option('--environment <environment>', 'where the key is valid')
        .choices(environments)
        .makeOptionMandatory(),
    )
    .action((name: string, { environment }: { environment: Environment }) =>
      run((operations) =>
        answer(operations.issueKey(name, environment), (key) =>
          keyNotice(`A key for ${name}.`, environment, key),
        ),
      ),
    );
  program
    .command('revoke-key <key>')
    .description('revoke a key: by its identifier (key_…), the beginning of either, or the whole key')
    .action((which: string) =>
      run((operations) =>
        answer(operations.revokeKey(which), ({ keyId }) => `Revoked ${keyId}: it is refused from now on.`),
      ),
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
