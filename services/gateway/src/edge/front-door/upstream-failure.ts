import { sendError } from '@tollgate/gateway-api/http';
import type { Log } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';
import { isNotSent } from './upstreams.ts';

/** 503 in both cases: to repeat is right in both, as the gateway carries nothing out twice. */
export function answerForUpstream(reply: FastifyReply, error: Error, log: Log): void {
  const { method, routeOptions } = reply.request;
  log.warn({ error, method, route: routeOptions.url ?? '' }, 'a service did not answer');
  // Headers of the failed answer do not describe this one.
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  void sendError(reply, isNotSent(error.cause) ? 'service_unavailable' : 'answer_lost');
}
