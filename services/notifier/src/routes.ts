/** The routes by which a team lists its webhooks and replays them. */
import type { EventStore } from '@tollgate/event-store';
import { type Call, type Route, addRoute, replaySchema, routes, sendError } from '@tollgate/gateway-api/http';
import { isOwnedBy, isToken, type Caller, type TeamDirectory } from '@tollgate/teams';
import { type PublicWebhook, toIso } from '@tollgate/gateway-api';
import { streamOf } from '@tollgate/views';
import { given, sendErrors, toErrorEntries, type Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { WebhookJournal } from './webhook-journal.ts';
import { replaysMax, type Delivery, type Webhook, type ReplayRefusal } from './webhook-state.ts';
import { paymentSubject, payoutSubject, type Subject } from './subjects.ts';

export interface WebhookRouteDependencies {
  store: EventStore;
  journal: WebhookJournal;
  directory: TeamDirectory;
  log: Log;
}

/** The routes of the webhooks about one kind of subject. */
const places = [
  { subject: paymentSubject, list: routes.listPaymentWebhooks, replay: routes.replayPaymentWebhooks },
  { subject: payoutSubject, list: routes.listPayoutWebhooks, replay: routes.replayPayoutWebhooks },
];

type OwnCall = Call & { token: string };

export function registerWebhookRoutes(app: FastifyInstance, deps: WebhookRouteDependencies): void {
  for (const { subject, list, replay } of places) {
    addOwnRoute(app, deps, { subject, route: list }, async ({ token, reply }) => {
      const { state } = await deps.journal.load(token);
      return reply.send({ success: true, webhooks: state.webhooks.map(toPublicWebhook) });
    });
    addOwnRoute(app, deps, { subject, route: replay }, (call) => replayWebhooks(deps, subject, call));
  }
}

/** A route about a subject of the caller's own; 404 for those of others. */
function addOwnRoute(
  app: FastifyInstance,
  deps: WebhookRouteDependencies,
  { subject, route }: { subject: Subject; route: Route },
  handle: (call: OwnCall) => Promise<FastifyReply>,
): void {
  addRoute(app, deps, route, async (call) => {
    const { token } = call.request.params as { token: string };
    if (!(await isOwn(deps.store, subject, call.caller, token)))
      return sendError(call.reply, `${subject.name}_not_found`);
    return handle({ ...call, token });
  });
}

async function replayWebhooks(
  { journal }: WebhookRouteDependencies,
  subject: Subject,
  { caller: { team, keyId }, token, request, reply }: OwnCall,
): Promise<FastifyReply> {
  const parsed = replaySchema.safeParse(request.body);
  if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
  const answer = await journal.requestReplay(token, parsed.data?.id, { kind: 'team', team, keyId });
  if (answer.kind === 'refused') return sendRefusal(reply, subject, answer.refusal);
  return reply.code(202).send({ success: true, webhooks: answer.ids.map((id) => ({ id })) });
}

async function isOwn(
  store: EventStore,
  { kind, termsOf }: Subject,
  caller: Caller,
  token: string,
): Promise<boolean> {
  if (!isToken(token)) return false;
  for await (const event of store.read(streamOf(kind, token), { limit: 1 })) {
    return isOwnedBy(termsOf(kind.fold(undefined, event)), caller);
  }
  return false;
}

export const toPublicWebhook = (webhook: Webhook): PublicWebhook => ({
  id: webhook.id,
  url: webhook.url,
  body: webhook.body,
  state: webhook.state,
  createdAt: toIso(webhook.createdAt),
  ...given({ nextAttemptAt: nextAttemptAt(webhook) }),
  deliveries: webhook.deliveries.map(toPublicDelivery),
});

/** Absent if no attempt will follow, and if one is due immediately. */
const nextAttemptAt = ({ state, nextAt }: Webhook): string | undefined =>
  state === 'open' && nextAt > 0 ? toIso(nextAt) : undefined;

const toPublicDelivery = ({ attempt, at, isDelivered, statusCode, reason }: Delivery) => ({
  attempt,
  at: toIso(at),
  outcome: isDelivered ? ('delivered' as const) : ('failed' as const),
  ...given({ statusCode, reason }),
});

const sendRefusal = (reply: FastifyReply, { name }: Subject, { code }: ReplayRefusal) =>
  sendError(reply, code, {
    message:
      code === 'webhook_not_found'
        ? `No webhook of this ${name} has this id. Take the id from the list of webhooks.`
        : `Webhooks of one ${name} can be replayed at most ${replaysMax} times. Read the current state from the API instead.`,
  });
