/** The operator's command line: `npm run payment-service -- <command>`. */
import {
  type Command,
  type CommandLineDeps,
  type CommandResult,
  argument,
  choice,
  commandsOf,
  done,
  flag,
  requiredOption,
  runProgram,
  text,
} from '@tollgate/service-kit/command-line';
import { environments, type Environment } from '../config.ts';
import { approvals, type Approval } from '../storage/merchants-table.ts';
import type { MerchantOverview, OperatorOperations, Result } from './operations.ts';

const command = commandsOf<OperatorOperations>();
const name = argument('<name>', 'name of the merchant', text);
const approvalsIn = (values: Readonly<Record<Approval, boolean>>) => approvals.filter((kind) => values[kind]);

const commands: readonly Command<OperatorOperations>[] = [
  command('register', 'register a merchant, with a key of the sandbox', { name }, (operations, values) =>
    answer(operations.register(values.name), (key) =>
      keyNotice(`Registered ${values.name}.`, 'sandbox', key),
    ),
  ),
  command(
    'approve',
    'record approvals of a merchant; a production key needs all three',
    {
      name,
      compliance: flag('the compliance approval'),
      commercial: flag('the commercial approval'),
      technical: flag('the technical approval'),
    },
    (operations, values) => {
      const kinds = approvalsIn(values);
      return answer(operations.approve(values.name, kinds), ({ missing }) =>
        approvalNotice(values.name, kinds, missing),
      );
    },
    (values) =>
      approvalsIn(values).length === 0
        ? 'Give at least one of --compliance, --commercial, --technical'
        : undefined,
  ),
  command(
    'set',
    'change a setting of a merchant, in both environments',
    {
      name,
      uniqueOrderNumber: requiredOption(
        '<on|off>',
        'refuse a second payment with the same orderNumber',
        choice(['on', 'off']),
      ),
    },
    (operations, values) =>
      answer(
        operations.setUniqueOrderNumber(values.name, values.uniqueOrderNumber === 'on'),
        () => `${values.name} now has --unique-order-number ${values.uniqueOrderNumber}.`,
      ),
  ),
  command('list', 'show merchants, approvals and keys', {}, async (operations) =>
    done(toTable(operations.list())),
  ),
  command(
    'issue-key',
    'issue a further key of a merchant and print it once',
    { name, environment: requiredOption('<environment>', 'where the key is valid', choice(environments)) },
    (operations, { name: merchant, environment }) =>
      answer(operations.issueKey(merchant, environment), (key) =>
        keyNotice(`A key for ${merchant}.`, environment, key),
      ),
  ),
  command(
    'revoke-key',
    'revoke a key: by its identifier (key_…), the beginning of either, or the whole key',
    { key: argument('<key>', 'which one', text) },
    (operations, { key }) =>
      answer(operations.revokeKey(key), ({ keyId }) => `Revoked ${keyId}: it is refused from now on.`),
  ),
];

const summary =
  'Manages the merchants of the Payment Service in TOLLGATE_DATA_DIR (.data); a running service follows at once.\nThe service itself is started with: npx node services/payment-service/src/main.ts';

/** Runs one command and returns the exit code of the process. @throws internal errors */
export const runOperatorCommand = (
  argv: readonly string[],
  deps: CommandLineDeps<OperatorOperations>,
): Promise<number> => runProgram(argv, { call: 'npm run payment-service --', summary, commands }, deps);

async function answer<Value>(
  result: Promise<Result<Value>>,
  toText: (value: Value) => string,
): Promise<CommandResult> {
  const value = await result;
  return value.kind === undefined ? done(toText(value)) : value;
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
