/** `account …`: pauses, drains and resumes merchant accounts. */
import { bodySchemas } from '@tollgate/gateway-api/http';
import { type Environment } from '@tollgate/core';
import type { AccountName } from '@tollgate/gateway/configuration';
import {
  changeAccount,
  daysToReconcile,
  readAccountChanges,
  requestReload,
} from '@tollgate/merchant-accounts';
import { lastReconciled } from '@tollgate/reconciliation';
import {
  type CommandResult,
  type ValuesOf,
  done,
  flag,
  printable,
  refuse,
  requiredOption,
  text,
} from '@tollgate/service-kit/command-line';
import * as read from './parameters.ts';
import { type CommandTools, causeOf, command, noAccount, recordAction } from './tools.ts';
import type { AccountState } from '@tollgate/accounts';

const onAccount = {
  account: read.account,
  environment: read.environmentOf('of the account'),
  reason: requiredOption('text', 'reason; shown in the list of accounts', text),
};

const onRestored = {
  ...onAccount,
  override: flag('skip the reconciliation that is due after a restore; recorded with the reason'),
};

export const accountCommands = [
  command(
    'account list',
    'list the accounts with their states, and when, by whom and why each was changed',
    {},
    listAccounts,
  ),
  command(
    'account pause',
    'make no call that moves money through an account; inquiries and callbacks continue',
    onAccount,
    changeTo('pause', 'paused'),
  ),
  command(
    'account drain',
    'give an account no new payments and payouts; existing ones continue',
    onRestored,
    changeTo('drain', 'draining'),
  ),
  command('account resume', 'resume a paused or drained account', onRestored, changeTo('resume', 'active')),
  command(
    'account reload',
    'reload the accounts file (PROVIDER_ACCOUNTS_FILE) in every process',
    {},
    async (tools) => {
      await recordAction(tools, 'account reload');
      await requestReload(tools, causeOf(tools));
      const report =
        'Every process reloads its accounts file within about a second. A process that cannot use its file keeps its accounts, and reports it in its log and at /readyz. A file that lacks an account that is not drained cannot be used: restore the entry, drain the account, and reload again.';
      return done(report, { requested: true });
    },
  ),
];

/** Without an accounts file, only accounts with changes are known. */
async function listAccounts({ store, accountNames }: CommandTools): Promise<CommandResult> {
  const { changes, restore } = await readAccountChanges(store);
  const changed = [...changes.values()];
  const isChanged = ({ environment, name }: AccountName) =>
    changed.some((each) => each.environment === environment && each.account === name);
  const rest = accountNames?.()?.filter((each) => !isChanged(each));
  const restState = restore === undefined ? 'active' : 'paused';
  const lines = changed.map(
    ({ environment, account, state, reason, changedBy, changedAt }) =>
      `${environment}/${printable(account)} ${state} since ${new Date(changedAt).toISOString()} by ${printable(changedBy)}: ${printable(reason)}`,
  );
  for (const { environment, name } of rest ?? [])
    lines.push(`${environment}/${printable(name)} ${restState}`);
  if (rest === undefined)
    lines.push(`${lines.length === 0 ? 'All accounts' : 'All other accounts'} are ${restState}.`);
  if (restore !== undefined)
    lines.push(
      `The event store was restored at ${new Date(restore.restoredAt).toISOString()} by ${printable(restore.restoredBy)}.`,
    );
  const others =
    rest?.map(({ environment, name }) => ({ environment, account: name, state: restState })) ?? [];
  return done(lines.join('\n'), [...changed, ...others]);
}

function changeTo(name: string, state: AccountState) {
  return async (
    tools: CommandTools,
    given: ValuesOf<typeof onAccount> & Partial<ValuesOf<typeof onRestored>>,
  ): Promise<CommandResult> => {
    const { environment, account, reason, override: isOverridden = false } = given;
    const known = tools.accountNames?.()?.filter((each) => each.environment === environment);
    // A wrong name would be recorded, but pause nothing.
    if (known?.every((each) => each.name !== account) === true) throw noAccount(account, environment, known);
    const parsed = bodySchemas.AccountChange.safeParse({ reason });
    if (!parsed.success) return { kind: 'usage', message: `--reason ${parsed.error.issues[0]?.message}.` };
    await recordAction(tools, `account ${name}`, { environment, account, isOverridden });
    const change = { environment, account, state, reason: parsed.data.reason, changedBy: tools.person.name };
    const refusal = await changeAccount(
      { ...tools, lastReconciled: (of: Environment, each: string) => lastReconciled(tools, of, each) },
      { ...change, isOverridden },
      causeOf(tools),
    );
    if (refusal !== undefined) {
      const days = daysToReconcile(refusal.restore);
      return refuse(
        `The event store was restored from a backup: run reconcile --account ${printable(account)} --environment ${environment} --from ${days[0]} --to ${days.at(-1)} first, or override with --override.`,
      );
    }
    const unchecked =
      known === undefined
        ? ' This command cannot verify that the account exists, because PROVIDER_ACCOUNTS_FILE is not set.'
        : '';
    const report = `${environment}/${printable(account)} is ${state}.${unchecked}`;
    return done(report, { environment, account, state });
  };
}
