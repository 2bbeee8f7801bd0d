/**
 * Receives the Payment Service's callbacks. Answers 200 only when the bus has the callback: from then on it is ours to
 * apply, and the service may forget it.
 */
import { encodeCallbackRecord, parseObject, providerCallbacksTopic } from '@tollgate/gateway-api';
import type { Message, MessageBus } from '@tollgate/message-bus';
import { type CallbackSecret, readCallbackCapability, redactCallback } from '@tollgate/provider/callbacks';
import { sendError } from '@tollgate/gateway-api/http';
import { type Clock, type Log, TollgateError, given, isRequestId, within } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createForgeryLog } from './forgery-log.ts';
import { type PaymentLimits, createPaymentLimits } from './payment-limits.ts';

/** What became of a request to the address of a callback. */
export type CallbackResult =
  | 'taken'
  /** Accepted; it held what could be charged, or looked like it. */
  | 'redacted'
  /** The address was not made by us; nothing of the body was read. */
  | 'forged'
  /** Of an address that we made, and that has come to its end; nothing of the body was read. */
  | 'ended'
  /** One too many of its payment; it was not stored. */
  | 'limited'
  /** Accepted: it is the one before again, which is stored. */
  | 'repeated'
  /** Too large, not JSON, or no object. */
  | 'refused'
  /** The bus did not confirm in time; the Payment Service must send it again. */
  | 'not_stored'
  /** The connection ended before the body was there, or was too slow. */
  | 'aborted';

export interface CallbackIngesterDependencies {
  bus: Pick<MessageBus, 'publish'>;
  secrets: readonly CallbackSecret[];
  /** How long an address is good for, milliseconds. */
  lifetimeMs: number;
  clock: Clock;
  log: Log;
  /** Hears of each request once. */
  onResult?: (result: CallbackResult) => void;
}

/** A callback's body, bytes. Ours is about 300. */
export const callbackBodyBytesMax = 16 * 1024;
/** How long the bus may take to confirm, milliseconds: the caller waits no longer, and memory stays bounded. */
const storeWithinMs = 10_000;

interface CallbackRoute {
  Params: { environment: string; token: string; capability: string };
  Body: Buffer;
}

type CallbackRequest = FastifyRequest<CallbackRoute>;

export function registerCallbackRoutes(app: FastifyInstance, deps: CallbackIngesterDependencies): void {
  const { secrets, lifetimeMs, clock } = deps;
  const limits = createPaymentLimits(deps);
  const tell = createTeller(deps);
  const forgeries = createForgeryLog(deps);
  // Our own reader keeps what may be kept of it.
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.post<CallbackRoute>(
    '/callbacks/:environment/:token/:capability',
    {
      // Before a byte of the body is read: forging callbacks must cost us nothing.
      onRequest: async (request, reply) => {
        const { environment, token, capability } = request.params;
        const made = readCallbackCapability(secrets, environment, token, capability);
        if (made === undefined) {
          forgeries.note();
          tell(request, 'forged');
          await notFound(reply);
        } else if (clock.now() > made.issuedAt + lifetimeMs) {
          tell(request, 'ended');
          await sendError(reply, 'callback_address_ended');
        }
      },
      onError: async (request) => tell(request, request.raw.readableAborted ? 'aborted' : 'refused'),
      onRequestAbort: async (request) => tell(request, 'aborted'),
    },
    async (request, reply) => {
      const result = await receive(deps, limits, request);
      tell(request, result);
      return answer(reply, result);
    },
  );
}

/** Reports the first result of each request: a caller that disconnects later does not change it. */
function createTeller({ onResult }: CallbackIngesterDependencies) {
  const reported = new WeakSet<object>();
  return (request: { raw: object }, result: CallbackResult): void => {
    if (reported.has(request.raw)) return;
    reported.add(request.raw);
    onResult?.(result);
  };
}

async function receive(
  deps: CallbackIngesterDependencies,
  limits: PaymentLimits,
  { params, body: raw, id }: CallbackRequest,
): Promise<CallbackResult> {
  const body = Buffer.isBuffer(raw) ? parseObject(raw) : undefined;
  if (body === undefined) return 'refused';
  const { environment, token } = params;
  const kept = redactCallback(raw, body);
  const requestId = isRequestId(id) ? id : undefined;
  const receivedAt = deps.clock.now();
  const message = encodeCallbackRecord({ environment, token, receivedAt, ...kept, ...given({ requestId }) });
  const admission = await limits.admit(`${environment}/${token}`, raw, () => store(deps, token, message));
  if (admission.kind !== 'stored') return admission.kind;
  return kept.isRedacted ? 'redacted' : 'taken';
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

/** One that comes too late may be stored all the same: then the callback comes a second time, which changes nothing. */
const publishInTime = ({ bus, clock }: CallbackIngesterDependencies, message: Message): Promise<void> =>
  within(clock, storeWithinMs, {
    work: bus.publish(providerCallbacksTopic, [message]),
    tooLate: () =>
      new TollgateError('bus_too_slow', 'The message bus did not confirm in time.', { retryable: true }),
  });

function answer(reply: FastifyReply, result: CallbackResult): FastifyReply {
  if (result === 'refused') return notAnObject(reply);
  if (result === 'limited') return sendError(reply, 'too_many_callbacks');
  if (result === 'not_stored') return sendError(reply, 'bus_unavailable');
  return reply.code(200).send({ success: true });
}

const notAnObject = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'invalid_json', { message: 'The body must be a JSON object.' });

// The same answer as for a path that does not exist: a guesser learns nothing.
const notFound = (reply: FastifyReply): FastifyReply => sendError(reply, 'path_not_found');
