/** The merchant accounts, for operators: their health, our balance there, and their state. */
import { routes, sendError, toPublicAccount } from '@tollgate/gateway-api/http';
import { type DueInquiries, inquiryShards, type Account, type Accounts } from '@tollgate/core';
import { StartupError, omitUndefined, isRetryable } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toRefusedAnswer } from './answers.ts';
import {
  type BodyRequest,
  type CallerRequest,
  type RouteKit,
  addBodyRoute,
  addCommandRoute,
} from './route-kit.ts';
import {
  type AccountRefusal,
  type AccountChanges,
  type AccountsFile,
  type FileDifferences,
  type AccountChangeDependencies,
  type LastReconciled,
  changeAccount,
  daysToReconcile,
  requestReload,
} from '@tollgate/merchant-accounts';
import { type AccountState, inquiryLimits } from '@tollgate/accounts';

export interface AccountRouteDependencies extends RouteKit, AccountChangeDependencies {
  accounts: Accounts;
  index: Pick<DueInquiries, 'dueQueues'>;
  changes: AccountChanges;
  lastReconciled: LastReconciled;
  file: AccountsFile | undefined;
}

export function registerAccountRoutes(app: FastifyInstance, deps: AccountRouteDependencies): void {
  const { changes, file } = deps;

  addCommandRoute(app, deps, routes.listAccountHealth, async ({ reply }) =>
    reply.send({
      success: true,
      accounts: accountsIn(deps),
      hasFile: file !== undefined,
      ...omitUndefined({ fileFault: changes.fileFault() }),
    }),
  );

  addCommandRoute(app, deps, routes.retrieveAccountBalance, async ({ query, request, reply }) => {
    const found = accountIn(deps, request);
    if (found === undefined) return sendError(reply, 'account_not_found');
    const outcome = await found.provider.balance(query.currency);
    if (outcome.kind === 'accepted') return reply.send({ success: true, wallet: outcome.answer });
    if (outcome.kind === 'refused') {
      const { statusCode, body } = toRefusedAnswer(outcome.errors);
      return reply.code(statusCode).send(body);
    }
    const message = 'The Payment Service returned no usable answer. Retry later.';
    return sendError(reply, 'provider_unavailable', { message });
  });

  addBodyRoute(app, deps, routes.pauseAccount, (call) => change(deps, call, 'paused'));
  addBodyRoute(app, deps, routes.drainAccount, (call) => change(deps, call, 'draining'));
  addBodyRoute(app, deps, routes.resumeAccount, (call) => change(deps, call, 'active'));
  addCommandRoute(app, deps, routes.reloadAccounts, (call) => reload(deps, call));
}

const accountIn = (
  { accounts }: AccountRouteDependencies,
  { params }: FastifyRequest,
): Account | undefined => {
  const wanted = params as { environment: string; account: string };
  return accounts.all().find((each) => keyOf(each) === `${wanted.environment}/${wanted.account}`);
};

async function change(
  deps: AccountRouteDependencies,
  { caller: { operator }, cause, body, request, reply }: BodyRequest<typeof routes.pauseAccount>,
  state: AccountState,
): Promise<FastifyReply> {
  const found = accountIn(deps, request);
  if (found === undefined) return sendError(reply, 'account_not_found');
  const { environment, name: account } = found;
  const { reason, override = false } = body;
  const changedBy = operator?.person ?? '';
  const wanted = { environment, account, state, reason, changedBy, isOverridden: override };
  const refusal = await changeAccount(deps, wanted, cause);
  if (refusal !== undefined) {
    const message = reconciliationDue(refusal);
    return sendError(reply, refusal.code, { message });
  }
  // The answer takes effect here: nothing more is announced through a paused account.
  await deps.changes.catchUp();
  return reply.send({ success: true, environment, account, state });
}

const reconciliationDue = ({ restore }: AccountRefusal): string => {
  const days = daysToReconcile(restore);
  return `The event store was restored from a backup. Reconcile this account from ${days[0]} to ${days.at(-1)}, or override with a reason.`;
};

async function reload(
  deps: AccountRouteDependencies,
  { cause, reply }: CallerRequest,
): Promise<FastifyReply> {
  if (deps.file === undefined) return sendError(reply, 'accounts_file_missing');
  const differences = differencesIn(deps.file);
  if ('fault' in differences)
    return sendError(reply, 'accounts_file_invalid', { message: differences.fault });
  await requestReload(deps, cause);
  await deps.changes.catchUp();
  const message = deps.changes.fileFault();
  if (message !== undefined) return sendError(reply, 'accounts_file_invalid', { message });
  return reply.send({ success: true, ...differences });
}

function differencesIn(file: AccountsFile): FileDifferences | { fault: string } {
  try {
    return file.compare();
  } catch (error) {
    if (error instanceof StartupError) return { fault: error.message };
    throw error;
  }
}

function accountsIn({ accounts, changes, index }: AccountRouteDependencies) {
  const healthOf = new Map(accounts.health().map((each) => [`${each.environment}/${each.account}`, each]));
  const oldest = oldestDue(index);
  return accounts.all().flatMap((account) => {
    const { environment, name, inquiriesPerSecondMax = inquiryLimits.inquiriesPerSecondMax } = account;
    const key = keyOf(account);
    const health = healthOf.get(key);
    if (health === undefined) return [];
    const change = changes.of(environment, name);
    return toPublicAccount({
      ...account,
      ...health,
      inquiriesPerSecondMax,
      circuit: health.breaker,
      oldestDueAt: oldest.get(key),
      lastChange: change && { at: change.changedAt, by: change.changedBy, reason: change.reason },
    });
  });
}

const keyOf = ({ environment, name }: Pick<Account, 'environment' | 'name'>): string =>
  `${environment}/${name}`;

const allShards = Array.from({ length: inquiryShards }, (_, shard) => shard);

/** When the inquiry that has been due longest was due, by account; nothing while the index is rebuilding. */
function oldestDue(index: AccountRouteDependencies['index']): ReadonlyMap<string, number> {
  const oldest = new Map<string, number>();
  for (const { environment, account, oldestDueAt } of dueIn(index)) {
    const key = keyOf({ environment, name: account });
    oldest.set(key, Math.min(oldest.get(key) ?? Infinity, oldestDueAt));
  }
  return oldest;
}

function dueIn(index: AccountRouteDependencies['index']): ReturnType<DueInquiries['dueQueues']> {
  try {
    return index.dueQueues(allShards);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    return [];
  }
}
