import { TollgateError, sendErrors, type Log } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';

/** Building may take minutes, and a short one is over by then. */
const whileBuildingSeconds = 5;

/** Answers 503 where the failure passes by itself; throws on what does not. */
export function answerUnavailableStore(error: unknown, reply: FastifyReply, log: Log): FastifyReply {
  if (!(error instanceof TollgateError) || !error.retryable) throw error;
  log.warn({ error, operation: 'read' }, 'a read failed; the caller is asked to try again');
  if (error.code === 'index_rebuilding') {
    const message = 'The lists are being built again here, and would be short of something. Try again later.';
    return sendErrors(reply.header('retry-after', String(whileBuildingSeconds)), 503, [
      { code: 'read_model_behind', kind: 'api_error', message },
    ]);
  }
  const message = 'This cannot be read at the moment. Try again in a second.';
  return sendErrors(reply.header('retry-after', '1'), 503, [
    { code: 'core_api_error', kind: 'api_error', message },
  ]);
}
