/** What a team sees of its webhooks, and how it asks for one again. */
import type { EventStore } from '@tollgate/event-store';
import type { Scope } from '@tollgate/teams';
import { authenticate, isOwnedBy, isToken, type Caller, type TeamDirectory } from '@tollgate/teams';
import { streamOf, toIso } from '@tollgate/views';
import {
  InvariantViolation,
  TollgateError,
  given,
  sendErrors,
  toErrorEntries,
  type ErrorEntry,
  type Log,
} from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { WebhookJournal } from './webhook-journal.ts';
import { replaysMax, type Delivery, type Webhook, type ReplayRefusal } from './webhook-state.ts';
import { paymentSubject, payoutSubject, type Subject } from './subjects.ts';

export interface WebhookRouteDependencies {
  store: EventStore;
  journal: WebhookJournal;
  directory: TeamDirectory;
  log: Log;
}

export const replaySchema = z.strictObject({ id: z.string('must be a text').optional() }).optional();

/** Where the webhooks about one kind of subject are found. */
interface Place {
  subject: Subject;
  collection: 'payments' | 'payouts';
  readScopes: readonly Scope[];
  replayScopes: readonly Scope[];
}

const places: readonly Place[] = [
  {
    ...{ subject: paymentSubject, collection: 'payments' },
    ...{ readScopes: ['read', 'payments'], replayScopes: ['payments'] },
  },
  {
    ...{ subject: payoutSubject, collection: 'payouts' },
    ...{ readScopes: ['read', 'payouts'], replayScopes: ['payouts'] },
  },
];

type Handler = (
  caller: Caller,
  token: string,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

export function registerWebhookRoutes(app: FastifyInstance, deps: WebhookRouteDependencies): void {
  for (const place of places) registerAt(app, deps, place);
}

function registerAt(app: FastifyInstance, deps: WebhookRouteDependencies, place: Place): void {
  const { store, journal, directory, log } = deps;
  const { subject, collection, readScopes, replayScopes } = place;
  const callers = new WeakMap<FastifyRequest, Caller>();

  /** Refuses who may not, before the body is read, and answers for what is of others and for a store that is away. */
  const forScopes = (scopes: readonly Scope[], handle: Handler) => ({
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      const caller = authenticate(directory, request, reply, scopes);
      if (caller === undefined) return reply;
      callers.set(request, caller);
      return undefined;
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new InvariantViolation('a request came past the check of its key');
      const { token } = request.params as { token: string };
      try {
        if (!(await isOwn(store, subject, caller, token)))
          return await sendErrors(reply, 404, [notFound(subject)]);
        return await handle(caller, token, request, reply);
      } catch (error) {
        return answerUnavailableStore(error, reply, log);
      }
    },
  });

  const list: Handler = async (_caller, token, _request, reply) => {
    const { state } = await journal.load(token);
    return reply.send({ success: true, webhooks: state.webhooks.map(toPublicWebhook) });
  };

  const replay: Handler = async ({ team, keyId }, token, request, reply) => {
    const parsed = replaySchema.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const answer = await journal.requestReplay(token, parsed.data?.id, { kind: 'team', team, keyId });
    if (answer.kind === 'refused') return sendRefusal(reply, subject, answer.refusal);
    return reply.code(202).send({ success: true, webhooks: answer.ids.map((id) => ({ id })) });
  };

  const path = `/api/v1/${collection}/:token/webhooks`;
  app.get(path, forScopes(readScopes, list));
  app.post(`${path}/replay`, forScopes(replayScopes, replay));
}

async function isOwn(
  store: EventStore,
  { kind, toldOf }: Subject,
  caller: Caller,
  token: string,
): Promise<boolean> {
  if (!isToken(token)) return false;
  for await (const event of store.read(streamOf(kind, token), { limit: 1 })) {
    return isOwnedBy(toldOf(kind.fold(undefined, event)), caller);
  }
  return false;
}

/** A webhook and every try to deliver it, as its team sees them. Instants are ISO 8601 in UTC. */
export const toPublicWebhook = (webhook: Webhook) => ({
  id: webhook.id,
  url: webhook.url,
  body: webhook.body,
  state: webhook.state,
  createdAt: toIso(webhook.createdAt),
  ...given({ nextAttemptAt: nextAttemptAt(webhook) }),
  deliveries: webhook.deliveries.map(toPublicDelivery),
});

/** Absent where there will be none, and where it is due at once. */
const nextAttemptAt = ({ state, nextAt }: Webhook): string | undefined =>
  state === 'open' && nextAt > 0 ? toIso(nextAt) : undefined;

const toPublicDelivery = ({ attempt, at, isDelivered, statusCode, reason }: Delivery) => ({
  attempt,
  at: toIso(at),
  outcome: isDelivered ? 'delivered' : 'failed',
  ...given({ statusCode, reason }),
});

const notFound = ({ kind: { name } }: Subject): ErrorEntry => ({
  code: `${name}_not_found`,
  kind: 'invalid_request_error',
  message: `There is no ${name} with this token.`,
  parameter: 'token',
});

function sendRefusal(
  reply: FastifyReply,
  { kind: { name } }: Subject,
  { code }: ReplayRefusal,
): FastifyReply {
  const kind = 'invalid_request_error';
  if (code === 'webhook_not_found') {
    const message = `There is no webhook of this ${name} with this id.`;
    return sendErrors(reply, 404, [{ code, kind, message, parameter: 'id' }]);
  }
  const message = `Webhooks of one ${name} are sent again ${replaysMax} times at most.`;
  return sendErrors(reply, 409, [{ code, kind, message }]);
}

/** Answers 503 where the failure passes by itself; throws on what does not. */
function answerUnavailableStore(error: unknown, reply: FastifyReply, log: Log): FastifyReply {
  if (!(error instanceof TollgateError) || !error.retryable) throw error;
  log.warn({ error, operation: 'webhooks' }, 'the event store is unavailable; the caller is asked to repeat');
  const message = 'The gateway cannot read or record anything now. Repeat the request in a second.';
  return sendErrors(reply.header('retry-after', '1'), 503, [
    { code: 'store_unavailable', kind: 'api_error', message },
  ]);
}
