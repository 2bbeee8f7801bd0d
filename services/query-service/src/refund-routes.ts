/** Refunds: lists, files, and one by its own token. A refund is part of its payment, which the record of its key names. */
import { refundKeyStream, refundKeyUsedSchema, isOwnedBy, isToken } from '@tollgate/core';
import { readLast } from '@tollgate/event-store';
import { toPublicRefund } from '@tollgate/gateway-api';
import { routes, sendError, addReadRoute, parameterOf } from '@tollgate/gateway-api/http';
import type { RefundEntry } from '@tollgate/lists';
import { type Caller } from '@tollgate/teams';
import { paymentKind } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import { ofCaller, ofTeams } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { type ReadDependencies, ownView, sendOne, withOwner } from './reading.ts';

export function registerRefundRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { addList, addFile }: ListRoutes,
): void {
  const refunds = { name: 'refunds', list: deps.index.listRefunds } as const;

  addList(routes.listRefunds, { ...refunds, toShown }, ofCaller);
  addFile(routes.exportRefunds, { ...refunds, columns, toCells: toShown }, ofCaller);
  addList(routes.listRefundsOfAll, { ...refunds, toShown: withOwner(toShown, ownerOf) }, (call) =>
    ofTeams(deps, call),
  );
  addFile(
    routes.exportRefundsOfAll,
    { ...refunds, columns: ['team', 'environment', ...columns], toCells: withOwner(toShown, ownerOf) },
    (call) => ofTeams(deps, call),
  );

  addReadRoute(app, deps, routes.retrieveRefund, async (call) => {
    const found = await findRefund(deps, call.caller, parameterOf(call.request, 'refundToken'));
    if (found === undefined) return sendError(call.reply, 'refund_not_found');
    return sendOne(call, found, { refund: toShown(found) });
  });
}

const toShown = ({ refund, view }: RefundEntry) => toPublicRefund(refund, view);

const ownerOf = ({ view }: RefundEntry) => view.payment;

/** Amounts are in minor units of the adjacent currency, times ISO 8601 in UTC. */
const columns = [
  ...['token', 'paymentToken', 'status', 'phase', 'createdAt', 'updatedAt', 'currency', 'amount'],
  ...['errors', 'reviews', 'metadata'],
];

/** Undefined if the caller has no such refund, even if its key was used and the refund was refused at once. */
async function findRefund(
  deps: ReadDependencies,
  caller: Caller,
  refundToken: string,
): Promise<RefundEntry | undefined> {
  const key = isToken(refundToken) ? await readLast(deps.store, refundKeyStream(refundToken)) : undefined;
  if (key === undefined) return undefined;
  const { paymentToken, ...owner } = refundKeyUsedSchema.parse(key.data);
  const view = isOwnedBy(owner, caller) ? await ownView(deps, paymentKind, caller, paymentToken) : undefined;
  const refund = view?.payment.refunds.find((each) => each.refundToken === refundToken);
  return view && refund && { refund, view, position: view.position };
}
