/** Routes of operators over all teams. */
import { routes, sendError } from '@tollgate/gateway-api/http';
import type { EventStore } from '@tollgate/event-store';
import { type Clock, type Ids, InvariantViolation, sendErrors } from '@tollgate/service-kit';
import { type Caller, type Operator, type Reach, createSavedViews } from '@tollgate/teams';
import { isToken, paymentStream, type Cause, type InquiryResult } from '@tollgate/core';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type TransferDependencies, transferMoney } from '@tollgate/wallets';
import { requestReconciliation } from '@tollgate/reconciliation';
import { parseIdempotencyKey } from './requests.ts';
import { type RouteKit, addBodyRoute, addCommandRoute, sendRefusal } from './route-kit.ts';

export interface OperatorRouteDependencies extends RouteKit, TransferDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
}

export function registerOperatorRoutes(app: FastifyInstance, deps: OperatorRouteDependencies): void {
  const { inquire } = deps;

  addCommandRoute(app, deps, routes.inquirePayment, async ({ cause, request, reach, reply }) => {
    const { token } = request.params as { token: string };
    const isThere = await isPaymentInReach(deps.store, { token, reach });
    const result = isThere ? await inquire(token, cause) : 'nothing-there';
    return result === 'nothing-there'
      ? sendError(reply, 'payment_not_found')
      : reply.send({ success: true, result });
  });

  addViewRoutes(app, deps);
  addReconciliationRoute(app, deps);
  addTransferRoute(app, deps);
}

function addViewRoutes(app: FastifyInstance, deps: OperatorRouteDependencies): void {
  const saved = createSavedViews(deps);

  addCommandRoute(app, deps, routes.listSavedViews, async ({ caller, reply }) =>
    reply.send({ success: true, views: await saved.of(personOf(caller)) }),
  );
  addBodyRoute(app, deps, routes.saveView, async ({ caller, body, reply }) => {
    const views = await saved.save(personOf(caller), body);
    return views === undefined ? sendError(reply, 'too_many_views') : reply.send({ success: true, views });
  });
  addBodyRoute(app, deps, routes.removeView, async ({ caller, body, reply }) =>
    reply.send({ success: true, views: await saved.remove(personOf(caller), body.name) }),
  );
}

function addReconciliationRoute(app: FastifyInstance, deps: OperatorRouteDependencies): void {
  addBodyRoute(app, deps, routes.requestReconciliation, async ({ caller, body, reply }) => {
    if (Date.parse(body.day) > deps.clock.now()) {
      const message = 'The day must not be in the future.';
      return sendError(reply, 'invalid_param', { message, parameter: 'day' });
    }
    const { person: name, source } = personOf(caller);
    const wanted = { ...body, by: 'person' } as const;
    const { token } = await requestReconciliation(deps, wanted, { kind: 'person', name, source });
    return reply.send({ success: true, token });
  });
}

function addTransferRoute(app: FastifyInstance, deps: OperatorRouteDependencies): void {
  addBodyRoute(app, deps, routes.transferMoney, async ({ cause, body, request, reply }) => {
    const key = parseIdempotencyKey(request.headers['idempotency-key'], undefined);
    if (key.kind === 'refused') return sendErrors(reply, 400, key.errors);
    const result = await transferMoney(deps, { key: key.value.value, transfer: body, cause });
    if (result.kind === 'refused')
      return sendRefusal(reply, result.refusal, { parameter: 'Idempotency-Key', token: result.token });
    return reply.send({ success: true, token: result.token });
  });
}

const ownerSchema = z.object({ team: z.string(), environment: z.string() });

/** A payment of another team does not exist for the person. Its first event names its team. */
async function isPaymentInReach(
  store: Pick<EventStore, 'read'>,
  { token, reach }: { token: string; reach: Reach },
): Promise<boolean> {
  if (!isToken(token)) return false;
  for await (const { data } of store.read(paymentStream(token), { limit: 1 }))
    return reach.isEverywhere || reach.includes(ownerSchema.parse(data));
  return false;
}

/** No key of a team has the scopes of these routes. */
function personOf({ operator }: Caller): Operator {
  if (operator !== undefined) return operator;
  throw new InvariantViolation('a team called an operator route');
}
