import { TollgateError, sendErrors, type Log } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';

/** Answers 503 where the failure passes by itself; throws on what does not. */
export function answerUnavailableStore(error: unknown, reply: FastifyReply, log: Log): FastifyReply {
  if (!(error instanceof TollgateError) || !error.retryable) throw error;
  log.warn({ error, operation: 'read' }, 'a read failed; the caller is asked to try again');
  const message = 'This cannot be read at the moment. Try again in a second.';
  return sendErrors(reply.header('retry-after', '1'), 503, [
    { code: 'core_api_error', kind: 'api_error', message },
  ]);
}
