/** The routes by which a team tests an endpoint, sees what was delivered there, and replays it. */
import { beginning } from '@tollgate/event-store';
import type { PublicWebhook } from '@tollgate/gateway-api';
import { bulkReplaySchema, routes, sendError } from '@tollgate/gateway-api/http';
import { omitUndefined, sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { toPublicWebhook } from '../public-webhook.ts';
import { tokenAtEndpoint } from '../webhook-events.ts';
import { type DeliveryRow, parsePlace } from './delivery-rows.ts';
import {
  actorOf,
  addEndpointRoute,
  parameterOf,
  type EndpointCall,
  type EndpointRouteDependencies,
} from './route-kit.ts';

/** Each is a load and an append. */
const replayedAtOnceMax = 500;
/** Replayed side by side. */
const inParallel = 16;

export function registerDeliveryRoutes(app: FastifyInstance, deps: EndpointRouteDependencies): void {
  addEndpointRoute(app, deps, routes.testWebhookEndpoint, (call) => sendTest(deps, call));
  addEndpointRoute(app, deps, routes.listWebhookDeliveries, async ({ endpoint, query, reply }) => {
    const { perPage, cursor, ...filter } = query;
    const after = cursor === undefined ? undefined : parseCursor(cursor);
    if (cursor !== undefined && after === undefined) return sendRefusedCursor(reply);
    const found = (await deps.deliveries.rows()).page(endpoint.id, filter, after, perPage + 1);
    const rows = found.slice(0, perPage);
    const last = rows.at(-1);
    const nextCursor =
      found.length > perPage && last !== undefined ? `${last.rank}-${last.place}` : undefined;
    const shown = await Promise.all(rows.map((row) => read(deps, row)));
    // The list may be a moment behind what is shown of each.
    const deliveries = shown.filter(
      (each) => each !== undefined && (filter.status ?? statusOf(each)) === statusOf(each),
    );
    return reply.send({ success: true, deliveries, perPage, ...omitUndefined({ nextCursor }) });
  });
  addEndpointRoute(app, deps, routes.replayWebhookDelivery, (call) => replayOne(deps, call));
  addEndpointRoute(app, deps, routes.replayWebhookDeliveries, (call) => replayMany(deps, call));
}

const statusOf = ({ state }: PublicWebhook) => (state === 'given_up' ? 'failed' : state);

function parseCursor(text: string): Pick<DeliveryRow, 'rank' | 'place'> | undefined {
  const [, rank, rest = ''] = /^([0-3])-(.*)$/.exec(text) ?? [];
  const place = parsePlace(rest);
  return place === undefined ? undefined : { rank: Number(rank), place };
}

const sendRefusedCursor = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'invalid_param', {
    message: 'cursor is not one that this list of yours has given as nextCursor.',
    parameter: 'cursor',
  });

/** Undefined where it was let go of meanwhile. */
async function read(
  { journal }: EndpointRouteDependencies,
  { token, id }: DeliveryRow,
): Promise<PublicWebhook | undefined> {
  const { state } = await journal.load(token);
  const webhook = state.webhooks.find((each) => each.id === id);
  return webhook && toPublicWebhook(webhook);
}

async function sendTest(
  { journal, clock, ids }: EndpointRouteDependencies,
  { owner, endpoint, reply }: EndpointCall,
): Promise<FastifyReply> {
  if (endpoint.disabled !== undefined) return sendError(reply, 'webhook_endpoint_disabled');
  const token = `test_${ids.hex(12)}`;
  const id = `whk_${ids.hex(16)}`;
  const amounts = { amount: 1250, currency: 'EUR' };
  const body = { token, type: 'test', status: 'approved', orderNumber: null, ...amounts } as const;
  const due = { id, ...owner, url: endpoint.url, endpoint: endpoint.id, body, at: clock.now() };
  const causationId = ids.uuid();
  const cause = { correlationId: causationId, causationId };
  await journal.recordDue(tokenAtEndpoint(endpoint.id, token), [due], cause);
  return reply.code(202).send({ success: true, webhooks: [{ id }] });
}

async function replayOne(
  { journal, deliveries }: EndpointRouteDependencies,
  { caller, endpoint, request, reply }: EndpointCall,
): Promise<FastifyReply> {
  if (endpoint.disabled !== undefined) return sendError(reply, 'webhook_endpoint_disabled');
  const row = (await deliveries.rows()).find(endpoint.id, parameterOf(request, 'webhook'));
  if (row === undefined) return sendError(reply, 'webhook_not_found');
  const answer = await journal.requestReplay(row.token, row.id, actorOf(caller));
  if (answer.kind === 'refused') return sendError(reply, answer.refusal.code);
  return reply.code(202).send({ success: true, webhooks: [{ id: row.id }] });
}

async function replayMany(
  { journal, deliveries }: EndpointRouteDependencies,
  { caller, endpoint, request, reply }: EndpointCall,
): Promise<FastifyReply> {
  if (endpoint.disabled !== undefined) return sendError(reply, 'webhook_endpoint_disabled');
  const parsed = bulkReplaySchema.safeParse(request.body);
  if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
  const { status = 'failed', cursor, ...times } = parsed.data ?? {};
  const after = cursor === undefined ? beginning : parsePlace(cursor);
  if (after === undefined) return sendRefusedCursor(reply);
  const rows = await deliveries.rows();
  const wanted = rows.oldest(endpoint.id, { status, ...times }, after, replayedAtOnceMax);
  const only = status === 'failed' ? 'given_up' : 'delivered';
  let replayed = 0;
  for (let start = 0; start < wanted.length; start += inParallel) {
    const batch = wanted.slice(start, start + inParallel);
    const answers = await Promise.all(
      batch.map(({ token, id }) => journal.requestReplay(token, id, actorOf(caller), only)),
    );
    // At its limit of replays, let go of, or replayed by somebody else: it is passed over.
    for (const each of answers) replayed += each.kind === 'requested' ? each.newCount : 0;
  }
  const nextCursor = wanted.length === replayedAtOnceMax ? wanted.at(-1)?.place : undefined;
  return reply.code(202).send({ success: true, replayed, ...omitUndefined({ nextCursor }) });
}
