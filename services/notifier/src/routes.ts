/** The routes by which a team lists its webhooks and replays them. */
import type { EventStore } from '@tollgate/event-store';
import { type Call, type Route, addRoute, replaySchema, routes, sendError } from '@tollgate/gateway-api/http';
import { isOwnedBy, isToken, type Caller, type TeamDirectory } from '@tollgate/teams';
import { streamOf } from '@tollgate/views';
import { sendErrors, toErrorEntries, type Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { WebhookJournal } from './webhook-journal.ts';
import { replaysMax, type Webhook, type ReplayRefusal } from './webhook-state.ts';
import { toPublicWebhook } from './public-webhook.ts';
import { tokenAtEndpoint } from './webhook-events.ts';
import type { EndpointBook } from './endpoints/endpoint-book.ts';
import { paymentSubject, payoutSubject, type Subject } from './subjects.ts';

export interface WebhookRouteDependencies {
  store: EventStore;
  journal: WebhookJournal;
  book: Pick<EndpointBook, 'list'>;
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
    addOwnRoute(app, deps, { subject, route: list }, async ({ caller, token, reply }) => {
      const all = (await webhooksOf(deps, caller, token)).flatMap(({ webhooks }) => webhooks);
      const webhooks = all.toSorted((one, other) => one.createdAt - other.createdAt);
      return reply.send({ success: true, webhooks: webhooks.map(toPublicWebhook) });
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
  deps: WebhookRouteDependencies,
  subject: Subject,
  { caller, token, request, reply }: OwnCall,
): Promise<FastifyReply> {
  const { team, keyId } = caller;
  const parsed = replaySchema.safeParse(request.body);
  if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
  const id = parsed.data?.id;
  const all = await webhooksOf(deps, caller, token);
  const wanted = all.filter(({ webhooks }) => webhooks.some((each) => id === undefined || each.id === id));
  if (wanted.length === 0) return sendRefusal(reply, subject, { code: 'webhook_not_found' });
  // Nothing is sent there: what had been delivered would be given up by its replay.
  const sendable = wanted.filter(({ isDisabled }) => !isDisabled);
  if (sendable.length === 0) return sendError(reply, 'webhook_endpoint_disabled');
  const ids: string[] = [];
  for (const each of sendable) {
    const answer = await deps.journal.requestReplay(each.token, id, { kind: 'team', team, keyId });
    if (answer.kind === 'refused') return sendRefusal(reply, subject, answer.refusal);
    ids.push(...answer.ids);
  }
  return reply.code(202).send({ success: true, webhooks: ids.map((each) => ({ id: each })) });
}

/** Those to its `callbackUrl`, and those to each endpoint that the team has. */
async function webhooksOf(
  { journal, book }: WebhookRouteDependencies,
  { environment, team }: Caller,
  token: string,
): Promise<{ token: string; isDisabled: boolean; webhooks: readonly Webhook[] }[]> {
  const endpoints = await book.list({ environment, team });
  const receivers = [
    { token, isDisabled: false },
    ...endpoints.map(({ id, disabled }) => ({
      token: tokenAtEndpoint(id, token),
      isDisabled: disabled !== undefined,
    })),
  ];
  const loaded = receivers.map(async (each) => ({
    ...each,
    webhooks: (await journal.load(each.token)).state.webhooks,
  }));
  return Promise.all(loaded);
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

const sendRefusal = (reply: FastifyReply, { name }: Subject, { code }: ReplayRefusal) =>
  sendError(reply, code, {
    message:
      code === 'webhook_not_found'
        ? `No webhook of this ${name} has this id. Take the id from the list of webhooks.`
        : `Webhooks of one ${name} can be replayed at most ${replaysMax} times. Read the current state from the API instead.`,
  });
