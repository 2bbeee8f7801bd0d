/** Dead-lettered callbacks, and erasing customer data, for operators. */
import { deadLetterReplaySchema, routes, sendError } from '@tollgate/gateway-api/http';
import type { MessageBus, TopicReader } from '@tollgate/message-bus';
import { omitUndefined, sendErrors } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import {
  type ForgetDependencies,
  forgetCustomerOf,
  remainingPlaces,
  remainingTexts,
  publishDeadLettersAgain,
  readDeadLetters,
} from '@tollgate/core';
import { isPaymentInReach } from './operator-routes.ts';
import { parseBody } from './parsed.ts';
import { type RouteKit, addCommandRoute } from './route-kit.ts';

export interface DeadLetterRouteDependencies extends RouteKit, ForgetDependencies {
  bus: Pick<MessageBus, 'publish'>;
  topicReader: TopicReader;
}

/** Maximum per answer. */
const shownMax = 500;

export function registerDeadLetterRoutes(app: FastifyInstance, deps: DeadLetterRouteDependencies): void {
  const { topicReader } = deps;

  addCommandRoute(app, deps, routes.listDeadLetters, async ({ reply }) => {
    const waiting = (await readDeadLetters(topicReader)).filter(({ isReplayed }) => !isReplayed);
    const deadLetters = waiting
      .slice(0, shownMax)
      .map(({ isReplayed: _, environment, receivedAt, ...shown }) => ({
        ...shown,
        ...omitUndefined({ environment, receivedAt }),
      }));
    return reply.send({ success: true, deadLetters, count: waiting.length });
  });

  addCommandRoute(app, deps, routes.replayDeadLetters, async ({ request, reply }) => {
    const parsed = parseBody(deadLetterReplaySchema, request.body === undefined ? {} : request.body);
    if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
    const { offset } = parsed.value;
    const chosen = (await readDeadLetters(topicReader)).filter((each) =>
      offset === undefined ? !each.isReplayed && each.isReadable : each.offset === offset,
    );
    if (offset !== undefined && chosen.length === 0) return sendError(reply, 'dead_letter_not_found');
    const offsets = chosen.map((each) => each.offset);
    await publishDeadLettersAgain(deps, new Set(offsets));
    return reply.send({ success: true, offsets });
  });

  addCommandRoute(app, deps, routes.forgetCustomer, async ({ cause, request, reach, reply }) => {
    const { token } = request.params as { token: string };
    if (!(await isPaymentInReach(deps.store, { token, reach }))) return sendError(reply, 'payment_not_found');
    const wasKept = await forgetCustomerOf(deps, token, cause.actor);
    const remains = await remainingTexts(deps.store, token);
    return reply.send({ success: true, wasKept, remains, places: remainingPlaces });
  });
}
