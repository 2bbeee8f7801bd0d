/** The merchant accounts, for people who operate the gateway: how they fare, and what the Payment Service has for us there. */
import { toIso } from '@tollgate/gateway-api';
import { routes, sendError } from '@tollgate/gateway-api/http';
import { type DueInquiries, inquiryShards } from '@tollgate/payment-domain';
import { given, isRetryable } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { type Account, inquiryLimits } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { toRefusedAnswer } from './answers.ts';
import { type RouteKit, addCommandRoute } from './route-kit.ts';

export interface AccountRouteDependencies extends RouteKit {
  accounts: Accounts;
  index: Pick<DueInquiries, 'dueQueues'>;
}

export function registerAccountRoutes(app: FastifyInstance, deps: AccountRouteDependencies): void {
  const { accounts, index } = deps;

  addCommandRoute(app, deps, routes.listAccountHealth, async ({ reply }) => {
    const healthOf = new Map(accounts.health().map((each) => [`${each.environment}/${each.account}`, each]));
    const oldest = oldestDue(index);
    const shown = accounts.all().flatMap((account) => {
      const key = keyOf(account);
      const health = healthOf.get(key);
      if (health === undefined) return [];
      const { breaker: circuit, callsUnderWay, waiting } = health;
      const at = oldest.get(key);
      const oldestDueAt = at === undefined ? undefined : toIso(at);
      return { ...termsOf(account), circuit, callsUnderWay, waiting, ...given({ oldestDueAt }) };
    });
    return reply.send({ success: true, accounts: shown });
  });

  addCommandRoute(app, deps, routes.retrieveAccountBalance, async ({ query, request, reply }) => {
    const wanted = request.params as { environment: string; account: string };
    const found = accounts.all().find((each) => keyOf(each) === `${wanted.environment}/${wanted.account}`);
    if (found === undefined) return sendError(reply, 'account_not_found');
    const outcome = await found.provider.balance(query.currency);
    if (outcome.kind === 'accepted') return reply.send({ success: true, wallet: outcome.answer });
    if (outcome.kind === 'refused') {
      const { statusCode, body } = toRefusedAnswer(outcome.errors);
      return reply.code(statusCode).send(body);
    }
    const message = 'The Payment Service gave no usable answer. Repeat the request later.';
    return sendError(reply, 'provider_unavailable', { message });
  });
}

const keyOf = ({ environment, name }: Pick<Account, 'environment' | 'name'>): string =>
  `${environment}/${name}`;

function termsOf(account: Account) {
  const { environment, name, weight, priority, callsPerSecondMax, concurrentCallsMax } = account;
  const { currencies, teams, totalPerSecondMax } = account;
  return {
    ...{ environment, account: name, weight, priority, callsPerSecondMax, concurrentCallsMax },
    inquiriesPerSecondMax: account.inquiriesPerSecondMax ?? inquiryLimits.inquiriesPerSecondMax,
    ...given({ currencies, teams, totalPerSecondMax }),
  };
}

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
