/**
 * Receives the Payment Service's callbacks. Answers 200 only when the bus has the callback: from then on it is ours to apply.
 */
import type { Message, MessageBus } from '@tollgate/message-bus';
import { type CallbackSecret, readCallbackCapability, redactCallback } from '@tollgate/provider/callbacks';
import { sendError } from '@tollgate/gateway-api/http';
import {
  type Clock,
  type Log,
  TollgateError,
  omitUndefined,
  isRequestId,
  within,
} from '@tollgate/service-kit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createPaymentLimits } from './payment-limits.ts';
import { encodeCallbackRecord, parseObject, providerCallbacksTopic } from '@tollgate/gateway-api';

export interface CallbackIngesterDependencies {
  bus: Pick<MessageBus, 'publish'>;
  secrets: readonly CallbackSecret[];
  /** How long an address is good for, milliseconds. */
  lifetimeMs: number;
  clock: Clock;
  log: Log;
}

/** A callback's body, bytes. Ours is about 300. */
export const callbackBodyBytesMax = 16 * 1024;
/** Maximum wait for the bus: the caller waits no longer, and memory stays bounded. @unit milliseconds */
const storeWithinMs = 10_000;

interface CallbackRoute {
  Params: { environment: string; token: string; capability: string };
  Body: Buffer | undefined;
}

type CallbackRequest = FastifyRequest<CallbackRoute>;

/** The body of a callback is read as bytes, regardless of its content type. */
const anyType = 'application/octet-stream';

export function registerCallbackRoutes(app: FastifyInstance, deps: CallbackIngesterDependencies): void {
  const { secrets, lifetimeMs, clock } = deps;
  const limits = createPaymentLimits(deps);
  const forgeries = createForgeryLog(deps);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(anyType, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post<CallbackRoute>(
    '/callbacks/:environment/:token/:capability',
    {
      config: { acceptsAmbiguity: true },
      // Before a byte of the body is read: forging callbacks must cost us nothing.
      onRequest: async (request, reply) => {
        const { environment, token, capability } = request.params;
        const made = readCallbackCapability(secrets, environment, token, capability);
        if (made === undefined) {
          forgeries.note();
          // The same answer as for a path that does not exist: a guesser learns nothing.
          return sendError(reply, 'path_not_found');
        }
        if (clock.now() > made.issuedAt + lifetimeMs) return sendError(reply, 'callback_address_ended');
        request.headers['content-type'] = anyType;
        return undefined;
      },
    },
    async (request, reply) => {
      const { environment, token } = request.params;
      const { body: raw = Buffer.alloc(0) } = request;
      const admission = await limits.admit(`${environment}/${token}`, raw.byteLength, () =>
        store(deps, token, toMessage(deps, request, raw)),
      );
      if (admission === 'limited') return sendError(reply, 'too_many_callbacks');
      if (admission === 'not_stored') return sendError(reply, 'bus_unavailable');
      return reply.code(200).send({ success: true });
    },
  );
}

/** The URL alone identifies the payment to inquire, so a callback with an unreadable body is a hint as well. */
function toMessage({ clock }: CallbackIngesterDependencies, { params, id }: CallbackRequest, raw: Buffer) {
  const { environment, token } = params;
  const kept = redactCallback(raw, parseObject(raw) ?? {});
  const requestId = isRequestId(id) ? id : undefined;
  const receivedAt = clock.now();
  return encodeCallbackRecord({ environment, token, receivedAt, ...kept, ...omitUndefined({ requestId }) });
}

/** @returns whether the bus has it for certain */
async function store(deps: CallbackIngesterDependencies, token: string, message: Message): Promise<boolean> {
  try {
    await publishInTime(deps, message);
    return true;
  } catch (error) {
    deps.log.error(
      { error, token, topic: providerCallbacksTopic },
      'a callback could not be stored; the Payment Service must send it again',
    );
    return false;
  }
}

/** A late confirmation may still be stored: then the callback arrives twice, which changes nothing. */
const publishInTime = ({ bus, clock }: CallbackIngesterDependencies, message: Message): Promise<void> =>
  within(clock, storeWithinMs, {
    work: bus.publish(providerCallbacksTopic, [message]),
    tooLate: () =>
      new TollgateError('bus_too_slow', 'The message bus did not confirm in time.', { retryable: true }),
  });

/** Least time between two lines, milliseconds: a flood must not fill the disk that the log is on. */
const lineEveryMs = 1_000;

/** Logs callbacks without a valid capability, at most a line a second with their number since the last one. */
export function createForgeryLog({ clock, log }: { clock: Pick<Clock, 'monotonic'>; log: Log }): {
  note: () => void;
} {
  let count = 0;
  let writtenAt = -Infinity;
  return {
    note: () => {
      count += 1;
      if (clock.monotonic() < writtenAt + lineEveryMs) return;
      log.info(
        { operation: 'callback', outcome: 'forged', count },
        'callbacks without a valid capability were rejected',
      );
      [count, writtenAt] = [0, clock.monotonic()];
    },
  };
}
