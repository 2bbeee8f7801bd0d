/** Read your own writes: a read may ask that the model has come as far as the answer of a command. */
import type { Position } from '@tollgate/event-store';
import type { Caller } from '@tollgate/teams';
import type { PaymentIndex } from '@tollgate/view-index';
import { sendErrors } from '@tollgate/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';

const waitMaxMs = 2_000;
/** For what nobody has asked to wait for: soon enough for whoever did not expect to wait. */
const courtesyMs = 300;
/** Positions of every event store of ours are digits, some with separators. */
const positionPattern = /^\d[\d:/-]{0,63}$/;

/**
 * Waits until the index has reached the position in the request's `Tollgate-Min-Position`. False where the request has
 * been answered: 400 `invalid_param`, 503 `read_model_behind`.
 *
 * Without that, it waits a moment for what the front door says that the same key has written (`Tollgate-Own-Position`),
 * and answers with what there is.
 */
export async function awaitMinPosition(
  index: Pick<PaymentIndex, 'waitFor'>,
  { team }: Pick<Caller, 'team'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const text = request.headers['tollgate-min-position'];
  if (text === undefined) {
    const own = request.headers['tollgate-own-position'];
    if (typeof own === 'string' && positionPattern.test(own))
      await index.waitFor(own as Position, courtesyMs, team);
    return true;
  }
  if (typeof text !== 'string' || !positionPattern.test(text)) {
    const message = 'Tollgate-Min-Position must be a Tollgate-Position that the gateway has answered.';
    const parameter = 'Tollgate-Min-Position';
    sendErrors(reply, 400, [{ code: 'invalid_param', kind: 'invalid_request_error', message, parameter }]);
    return false;
  }
  if (await index.waitFor(text as Position, waitMaxMs, team)) return true;
  const message = 'What you wrote is safe, and cannot be read here yet. Try again in a second.';
  sendErrors(reply.header('retry-after', '1'), 503, [
    { code: 'read_model_behind', kind: 'api_error', message },
  ]);
  return false;
}
