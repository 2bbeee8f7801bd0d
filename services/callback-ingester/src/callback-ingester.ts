/**
 * Receives the Payment Service's callbacks. Answers 200 only when the bus has the callback: from then on it is ours to
 * apply, and the service may forget it.
 */
import { encodeCallbackRecord, parseObject, providerCallbacksTopic } from '@tollgate/gateway-events';
import type { MessageBus } from '@tollgate/message-bus';
import {
  type CallbackSecret,
  type Clock,
  type Log,
  isCallbackCapability,
  sendErrors,
} from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface CallbackIngesterDependencies {
  bus: Pick<MessageBus, 'publish'>;
  secrets: readonly CallbackSecret[];
  clock: Clock;
  log: Log;
}

/** A callback's body, bytes. Ours is about 300. */
export const callbackBodyBytesMax = 16 * 1024;

interface CallbackRoute {
  Params: { environment: string; token: string; capability: string };
  Body: Buffer;
}

export function registerCallbackRoutes(app: FastifyInstance, deps: CallbackIngesterDependencies): void {
  // Published as it came, byte for byte: it is evidence.
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.post<CallbackRoute>('/callbacks/:environment/:token/:capability', async (request, reply) =>
    receive(deps, request, reply),
  );
}

async function receive(
  deps: CallbackIngesterDependencies,
  request: FastifyRequest<CallbackRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { environment, token, capability } = request.params;
  if (!isCallbackCapability(deps.secrets, environment, token, capability)) return refuseForged(deps, reply);
  if (!Buffer.isBuffer(request.body) || parseObject(request.body) === undefined)
    return sendErrors(reply, 400, [
      {
        code: 'invalid_json',
        kind: 'invalid_request_error',
        message: 'The body must be a JSON object.',
        parameter: 'body',
      },
    ]);
  const callback = { environment, token, body: request.body, receivedAt: deps.clock.now() };
  try {
    await deps.bus.publish(providerCallbacksTopic, [encodeCallbackRecord(callback)]);
  } catch (error) {
    deps.log.error(
      { error, token, topic: providerCallbacksTopic },
      'a callback could not be stored; it must come again',
    );
    reply.header('Retry-After', '5');
    const message = 'The callback could not be stored. Send it again.';
    return sendErrors(reply, 503, [{ code: 'bus_unavailable', kind: 'api_error', message }]);
  }
  return reply.code(200).send({ success: true });
}

// The same answer as for a path that does not exist: a guesser learns nothing.
function refuseForged(deps: CallbackIngesterDependencies, reply: FastifyReply): FastifyReply {
  deps.log.info(
    { operation: 'callback', outcome: 'forged' },
    'a callback without a valid capability was turned away',
  );
  return sendErrors(reply, 404, [
    {
      code: 'path_not_found',
      kind: 'invalid_request_error',
      message: 'There is nothing at this method and path.',
    },
  ]);
}
