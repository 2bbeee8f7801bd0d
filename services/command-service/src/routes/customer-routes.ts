/** Erasing customer data, for operators. */
import { routes, sendError } from '@tollgate/gateway-api/http';
import type { FastifyInstance } from 'fastify';
import { type ForgetDependencies, forgetCustomerOf, remainingPlaces, remainingTexts } from '@tollgate/core';
import { isPaymentInReach } from './operator-routes.ts';
import { type RouteKit, addCommandRoute } from './route-kit.ts';

export function registerCustomerRoutes(app: FastifyInstance, deps: RouteKit & ForgetDependencies): void {
  addCommandRoute(app, deps, routes.forgetCustomer, async ({ cause, request, reach, reply }) => {
    const { token } = request.params as { token: string };
    if (!(await isPaymentInReach(deps.store, { token, reach }))) return sendError(reply, 'payment_not_found');
    const wasKept = await forgetCustomerOf(deps, token, cause.actor);
    const remains = await remainingTexts(deps.store, token);
    return reply.send({ success: true, wasKept, remains, places: remainingPlaces });
  });
}
