/** `account list|pause|drain|resume|reload`: which merchant accounts the gateway calls. */
import { accountChangeRequestSchema } from '@tollgate/gateway-api/http';
import { changeAccount, readAccountChanges, requestReload } from '@tollgate/command-service';
import type { AccountState, Environment } from '@tollgate/payment-domain';
import { printable } from '@tollgate/service-kit/command-line';
import { createSecurityLog } from '@tollgate/teams';
import type { Command } from 'commander';
import {
  type CommandResult,
  type CommandTools,
  type RunCommand,
  environmentOption,
  noAccount,
} from './command.ts';

interface ChangeOptions {
  account: string;
  environment: Environment;
  reason: string;
}

const changes = [
  ['pause', 'paused', 'make no call that moves money through an account; inquiries and callbacks go on'],
  ['drain', 'draining', 'give an account no new payment and no new payout; what it has taken goes on'],
  ['resume', 'active', 'use an account again that was paused or drained'],
] as const;

export function registerAccountCommands(program: Command, run: RunCommand): void {
  const account = program
    .command('account')
    .description('merchant accounts; a change counts within about a second');
  account
    .command('list')
    .description('print whose state was changed, when, by whom and why; all others are active')
    .action(() => run(list));
  for (const [name, state, description] of changes)
    account
      .command(name)
      .description(description)
      .requiredOption('--account <name>', 'merchant account')
      .addOption(environmentOption('environment of the account'))
      .requiredOption('--reason <text>', 'why: others see it in the list of accounts')
      .action((options: ChangeOptions) => run((tools) => change(tools, name, { ...options, state })));
  account
    .command('reload')
    .description('have every process read its accounts file (PROVIDER_ACCOUNTS_FILE) again')
    .action(() => run(reload));
}

async function list({ store }: CommandTools): Promise<CommandResult> {
  const all = [...(await readAccountChanges(store)).values()];
  const lines = all.map(
    ({ environment, account, state, reason, changedBy, changedAt }) =>
      `${environment}/${printable(account)} ${state} since ${new Date(changedAt).toISOString()} by ${printable(changedBy)}: ${printable(reason)}`,
  );
  return {
    kind: 'done',
    text: lines.join('\n') || 'No account was ever paused or drained: all are active.',
    json: all,
  };
}

async function change(
  tools: CommandTools,
  command: string,
  { environment, account, reason, state }: ChangeOptions & { state: AccountState },
): Promise<CommandResult> {
  const known = tools.accountNames?.()?.filter((each) => each.environment === environment);
  // A wrong name would be on record and close nothing.
  if (known?.every(({ name }) => name !== account) === true) throw noAccount(account, environment, known);
  const parsed = accountChangeRequestSchema.safeParse({ reason });
  if (!parsed.success) return { kind: 'usage', message: `--reason ${parsed.error.issues[0]?.message}.` };
  await record(tools, `account ${command}`, { environment, account });
  const wanted = { environment, account, state, ...parsed.data, changedBy: tools.person.name };
  await changeAccount(tools, wanted, causeOf(tools));
  const unchecked =
    known === undefined
      ? ' Whether there is such an account is not known here: PROVIDER_ACCOUNTS_FILE is not set.'
      : '';
  const text = `${environment}/${printable(account)} is ${state}.${unchecked}`;
  return { kind: 'done', text, json: { environment, account, state } };
}

async function reload(tools: CommandTools): Promise<CommandResult> {
  await record(tools, 'account reload', {});
  await requestReload(tools, causeOf(tools));
  const text =
    'Every process reads its accounts file again within about a second. One that cannot use its file goes on with what it has, and says so in its log and at /readyz.';
  return { kind: 'done', text, json: { requested: true } };
}

function causeOf({ ids, person }: CommandTools) {
  const correlationId = ids.uuid();
  return { correlationId, causationId: correlationId, actor: person };
}

const record = (tools: CommandTools, command: string, detail: Record<string, unknown>): Promise<void> =>
  createSecurityLog(tools).record([
    { event: { type: 'OperatorActed', data: { command, detail } }, actor: tools.person },
  ]);
