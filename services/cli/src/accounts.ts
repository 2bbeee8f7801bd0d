/** `account …`: pauses, drains and resumes merchant accounts. */
import { bodySchemas } from '@tollgate/gateway-api/http';
import { type AccountState, type Environment } from '@tollgate/core';
import type { AccountName } from '@tollgate/gateway/configuration';
import { lastReconciled } from '@tollgate/reconciliation';
import { type CommandResult, done, printable, refuse } from '@tollgate/service-kit/command-line';
import { type CommandTools, causeOf, noAccount, recordAction } from './tools.ts';
import {
  changeAccount,
  daysToReconcile,
  readAccountChanges,
  requestReload,
} from '@tollgate/merchant-accounts';

/** Without an accounts file, only accounts with changes are known. */
export async function listAccounts({ store, accountNames }: CommandTools): Promise<CommandResult> {
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

interface Change {
  account: string;
  environment: Environment;
  reason: string;
  override?: boolean;
}

const withReconciliations = (tools: CommandTools) => ({
  ...tools,
  lastReconciled: (environment: Environment, account: string) => lastReconciled(tools, environment, account),
});

export const changeTo =
  (command: string, state: AccountState) =>
  async (
    tools: CommandTools,
    { environment, account, reason, override: isOverridden = false }: Change,
  ): Promise<CommandResult> => {
    const known = tools.accountNames?.()?.filter((each) => each.environment === environment);
    // A wrong name would be recorded, but pause nothing.
    if (known?.every(({ name }) => name !== account) === true) throw noAccount(account, environment, known);
    const parsed = bodySchemas.AccountChange.safeParse({ reason });
    if (!parsed.success) return { kind: 'usage', message: `--reason ${parsed.error.issues[0]?.message}.` };
    await recordAction(tools, `account ${command}`, { environment, account, isOverridden });
    const change = { environment, account, state, reason: parsed.data.reason, changedBy: tools.person.name };
    const refusal = await changeAccount(
      withReconciliations(tools),
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
    const text = `${environment}/${printable(account)} is ${state}.${unchecked}`;
    return done(text, { environment, account, state });
  };

export async function reloadAccounts(tools: CommandTools): Promise<CommandResult> {
  await recordAction(tools, 'account reload');
  await requestReload(tools, causeOf(tools));
  const text =
    'Every process reloads its accounts file within about a second. A process that cannot use its file keeps its accounts, and reports it in its log and at /readyz. A file that lacks an account that is not drained cannot be used: restore the entry, drain the account, and reload again.';
  return done(text, { requested: true });
}
