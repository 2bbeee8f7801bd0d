import { type Log, sendErrors } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';
import type { ErrorCode } from '../openapi/errors.ts';
import { isNotSent } from './upstreams.ts';

interface Failure {
  code: ErrorCode;
  message: string;
}

const notSent: Failure = {
  code: 'service_unavailable',
  message:
    'The part of the gateway that answers this cannot be reached now; nothing was carried out. Repeat the request.',
};

const answerLost: Failure = {
  code: 'answer_lost',
  message:
    'The part of the gateway that answers this has not answered: whether it was carried out is not known here. Repeat the request as it was, with the same Idempotency-Key.',
};

const retryAfterSeconds = '1';

/** 503 in both cases: to repeat is right in both, as the gateway carries nothing out twice. */
export function answerForUpstream(reply: FastifyReply, error: Error, log: Log): void {
  const { method, routeOptions } = reply.request;
  log.warn({ error, method, route: routeOptions.url ?? '' }, 'a service did not answer');
  const { code, message } = isNotSent(error.cause) ? notSent : answerLost;
  // Of an answer that had begun there: they would tell of something that is not in this one.
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  void sendErrors(reply.header('retry-after', retryAfterSeconds), 503, [
    { code, kind: 'api_error', message },
  ]);
}
