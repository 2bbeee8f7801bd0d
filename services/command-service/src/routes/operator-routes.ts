/** What people who operate the gateway ask of the command service, whatever the team. */
import { routes, sendError } from '@tollgate/gateway-api/http';
import { given } from '@tollgate/service-kit';
import { isToken } from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import type { Accounts } from '../accounts/accounts.ts';
import type { Cause } from '../aggregates/repository.ts';
import type { InquiryResult } from '../inquiries/inquiry-result.ts';
import { type RouteKit, addCommandRoute } from './route-kit.ts';

export interface OperatorRouteDependencies extends RouteKit {
  accounts: Accounts;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
}

export function registerOperatorRoutes(app: FastifyInstance, deps: OperatorRouteDependencies): void {
  const { accounts, inquire } = deps;

  addCommandRoute(app, deps, routes.inquirePayment, async ({ cause, request, reply }) => {
    const { token } = request.params as { token: string };
    const result = isToken(token) ? await inquire(token, cause) : 'nothing-there';
    return result === 'nothing-there'
      ? sendError(reply, 'payment_not_found')
      : reply.send({ success: true, result });
  });

  addCommandRoute(app, deps, routes.listAccountHealth, async ({ reply }) => {
    const healthOf = new Map(accounts.health().map((each) => [`${each.environment}/${each.account}`, each]));
    const shown = accounts.all().flatMap(({ environment, name, weight, callsPerSecondMax, currencies }) => {
      const health = healthOf.get(`${environment}/${name}`);
      if (health === undefined) return [];
      const { breaker: circuit, callsUnderWay, waiting } = health;
      return {
        ...{ environment, account: name, circuit, callsUnderWay, waiting, weight, callsPerSecondMax },
        ...given({ currencies }),
      };
    });
    return reply.send({ success: true, accounts: shown });
  });

  // What it records is recorded of every command of a person.
  addCommandRoute(app, deps, routes.recordSignIn, async ({ reply }) => reply.send({ success: true }));
}
