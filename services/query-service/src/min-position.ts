/** Read your own writes: a read may ask to include the effect of a command. */
import type { EventStore, Position } from '@tollgate/event-store';
import type { Caller } from '@tollgate/teams';
import type { PaymentIndex } from '@tollgate/view-index';
import { sendError } from '@tollgate/gateway-api/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

const waitMaxMs = 2_000;
/** Before the store is asked whether there is such a position at all. */
const beforeAskingMs = 300;
/** Positions of every event store of ours are digits, some with separators. */
const positionPattern = /^\d[\d:/-]{0,63}$/;

/**
 * Waits until the index has reached the position in the request's `Tollgate-Min-Position`. False once the request is
 * refused: 400 `invalid_param`, also for a position that no event of the store has had, 503 `read_model_behind`.
 *
 * Without that header, it waits briefly for what the same key has written and read, which the front door reports
 * (`Tollgate-Own-Position`), and then answers anyway.
 */
export async function awaitMinPosition(
  { index, store }: { index: Pick<PaymentIndex, 'waitFor' | 'waitBriefly'>; store: Pick<EventStore, 'head'> },
  { team }: Pick<Caller, 'team'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const text = request.headers['tollgate-min-position'];
  if (text === undefined) {
    const own = request.headers['tollgate-own-position'];
    if (typeof own === 'string' && positionPattern.test(own)) await index.waitBriefly(own as Position, team);
    return true;
  }
  if (typeof text !== 'string' || !positionPattern.test(text)) {
    const message = 'Tollgate-Min-Position is invalid. Send the Tollgate-Position of an earlier answer.';
    sendError(reply, 'invalid_param', { message, parameter: 'Tollgate-Min-Position' });
    return false;
  }
  const position = text as Position;
  if (await index.waitFor(position, beforeAskingMs, team)) return true;
  if (position > (await store.head())) {
    const message =
      'Tollgate-Min-Position is beyond everything that was recorded: no answer of this gateway has had it. Send the Tollgate-Position of an earlier answer.';
    sendError(reply, 'invalid_param', { message, parameter: 'Tollgate-Min-Position' });
    return false;
  }
  if (await index.waitFor(position, waitMaxMs - beforeAskingMs, team)) return true;
  sendError(reply, 'read_model_behind');
  return false;
}
