/** Lists webhooks and sends them again: those of a team, and those of all teams for operators. */
import { type Position, beginning } from '@tollgate/event-store';
import { type PublicWebhook, toIso } from '@tollgate/gateway-api';
import { addRoute, bodySchemas, routes, sendError } from '@tollgate/gateway-api/http';
import { type Actor, InvariantViolation } from '@tollgate/core';
import { type Log, omitUndefined, sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { Caller, Reach, SecurityWatch, TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { z } from 'zod';
import { type Deliveries, type DeliveryFilter, type DeliveryRow, parsePlace } from './deliveries.ts';
import type { EndpointBook } from './endpoints/endpoint-book.ts';
import type { EndpointOwner } from './endpoints/endpoint.ts';
import { endpointOfQueue } from './webhook-events.ts';
import type { WebhookJournal } from './webhook-journal.ts';
import type { Delivery, Webhook } from './webhook-state.ts';

export interface DeliveryRouteDependencies {
  journal: WebhookJournal;
  book: Pick<EndpointBook, 'list'>;
  deliveries: Pick<Deliveries, 'read'>;
  directory: TeamDirectory;
  recordCommand?: SecurityWatch['recordCommand'];
  log: Log;
}

/** Each is a load and an append. */
const replayedTogetherMax = 500;
const replayedInParallel = 16;

export function registerDeliveryRoutes(app: FastifyInstance, deps: DeliveryRouteDependencies): void {
  addRoute(app, deps, routes.listWebhooks, async ({ caller, query, reply }) => {
    const page = await pageOf(deps, { ...query, owners: [caller] });
    if (page === undefined) return sendRefusedCursor(reply);
    return reply.send({ ...page, webhooks: page.webhooks.map(toPublicWebhook) });
  });
  addRoute(app, deps, routes.listWebhooksOfAll, async ({ query, reach, reply }) => {
    const filter = { ...query, owners: ownersIn(deps, reach) };
    const page = await pageOf(deps, filter);
    if (page === undefined) return sendRefusedCursor(reply);
    const webhooks = page.webhooks.map((webhook) => ({
      ...toPublicWebhook(webhook),
      team: webhook.team,
      environment: webhook.environment,
    }));
    const count = await deps.deliveries.read((rows) => rows.count(filter));
    return reply.send({ ...page, webhooks, count });
  });
  addRoute(app, deps, routes.replayWebhooks, async ({ caller, request, reply }) => {
    const parsed = bodySchemas.WebhookReplay.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const { team, keyId } = caller;
    return replay(deps, reply, { ...parsed.data, owners: [caller], actor: { kind: 'team', team, keyId } });
  });
  addRoute(app, deps, routes.replayWebhooksOfAll, async ({ caller, request, reach, reply }) => {
    const parsed = bodySchemas.OperatorWebhookReplay.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    return replay(deps, reply, { ...parsed.data, owners: ownersIn(deps, reach), actor: personIn(caller) });
  });
}

const ownersIn = ({ directory }: DeliveryRouteDependencies, reach: Reach): DeliveryFilter['owners'] =>
  reach.isEverywhere ? undefined : reach.ownersAmong(directory.names());

/** Undefined for a cursor of another list. A webhook that changed or was deleted meanwhile may be omitted. */
async function pageOf(
  { deliveries, journal }: DeliveryRouteDependencies,
  { perPage, cursor, ...filter }: DeliveryFilter & { perPage: number; cursor?: string | undefined },
) {
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  if (cursor !== undefined && after === undefined) return undefined;
  const found = await deliveries.read((rows) => rows.page(filter, after, perPage + 1));
  const rows = found.slice(0, perPage);
  const webhooks = await Promise.all(
    rows.map(async ({ queue, id }) =>
      (await journal.load(queue)).state.webhooks.find((each) => each.id === id),
    ),
  );
  const last = found.length > perPage ? rows.at(-1) : undefined;
  return {
    success: true,
    webhooks: webhooks.filter((each) => each !== undefined),
    perPage,
    ...omitUndefined({ nextCursor: last && `${last.rank}-${last.place}` }),
  };
}

function parseCursor(text: string): Pick<DeliveryRow, 'rank' | 'place'> | undefined {
  const [, rank, rest = ''] = /^([0-3])-(.*)$/.exec(text) ?? [];
  const place = parsePlace(rest);
  return place === undefined ? undefined : { rank: Number(rank), place };
}

interface Replay extends z.infer<typeof bodySchemas.OperatorWebhookReplay> {
  owners: DeliveryFilter['owners'];
  token?: string | undefined;
  actor: Actor;
}

/** Of the named webhook, those of the named token, or all that the filter matches. Refused if none can be sent again. */
async function replay(
  deps: DeliveryRouteDependencies,
  reply: FastifyReply,
  { cursor, actor, status, ...asked }: Replay,
): Promise<FastifyReply> {
  const after: Position | undefined = cursor === undefined ? beginning : parsePlace(cursor);
  if (after === undefined) return sendRefusedCursor(reply);
  const isNamed = asked.id !== undefined || asked.token !== undefined;
  const filter = isNamed ? asked : { ...asked, status };
  const rows = await deps.deliveries.read((all) => all.oldestFirst(filter, after, replayedTogetherMax));
  if (isNamed && rows.length === 0) return sendError(reply, 'webhook_not_found');
  const only = isNamed ? undefined : status === 'failed' ? 'given_up' : 'delivered';
  const { replayed, accepted, refusal } = await replayAll(deps, rows, actor, only);
  const isEndpointDisabled = asked.endpoint !== undefined && refusal === 'webhook_endpoint_disabled';
  if (refusal !== undefined && (isNamed ? accepted === 0 : isEndpointDisabled))
    return sendError(reply, refusal);
  const nextCursor = rows.length === replayedTogetherMax ? rows.at(-1)?.place : undefined;
  return reply.code(202).send({ success: true, replayed, ...omitUndefined({ nextCursor }) });
}

type ReplayFailure = 'webhook_endpoint_disabled' | 'webhook_not_found' | 'too_many_replays';

/**
 * Skips a webhook that was replayed too often, or whose endpoint is disabled: nothing is sent there, and a delivered one would
 * be abandoned.
 */
async function replayAll(
  { journal, book }: Pick<DeliveryRouteDependencies, 'journal' | 'book'>,
  webhooks: readonly DeliveryRow[],
  actor: Actor,
  only?: Webhook['state'],
): Promise<{ replayed: number; accepted: number; refusal: ReplayFailure | undefined }> {
  const ended = await endpointsWithoutDelivery(book, webhooks);
  const total: Awaited<ReturnType<typeof replayAll>> = { replayed: 0, accepted: 0, refusal: undefined };
  for (let start = 0; start < webhooks.length; start += replayedInParallel) {
    const answers = await Promise.all(
      webhooks.slice(start, start + replayedInParallel).map(async ({ queue, id }) => {
        const isEnded = ended.has(endpointOfQueue(queue) ?? '');
        if (isEnded) return { kind: 'refused', refusal: { code: 'webhook_endpoint_disabled' } } as const;
        return journal.requestReplay(queue, id, actor, only);
      }),
    );
    for (const answer of answers)
      if (answer.kind === 'refused') total.refusal ??= answer.refusal.code;
      else {
        total.accepted += 1;
        total.replayed += answer.isNew ? 1 : 0;
      }
  }
  return total;
}

/** Disabled or removed endpoints of these webhooks. */
async function endpointsWithoutDelivery(
  book: Pick<EndpointBook, 'list'>,
  webhooks: readonly DeliveryRow[],
): Promise<ReadonlySet<string>> {
  const ended = new Set<string>();
  for (const [first, ...others] of Map.groupBy(
    webhooks,
    ({ environment, team }) => `${environment} ${team}`,
  ).values()) {
    const ids = [first, ...others].flatMap((each) => (each && endpointOfQueue(each.queue)) ?? []);
    if (first === undefined || ids.length === 0) continue;
    const known = await book.list(first as EndpointOwner);
    const enabled = new Set(known.filter(({ disabled }) => disabled === undefined).map(({ id }) => id));
    for (const id of ids) if (!enabled.has(id)) ended.add(id);
  }
  return ended;
}

const sendRefusedCursor = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'invalid_param', {
    message: 'cursor is not a nextCursor of this list.',
    parameter: 'cursor',
  });

/** No key of a team has the scopes of the routes across teams. */
function personIn({ operator }: Caller): Actor {
  if (operator === undefined) throw new InvariantViolation('a team called an operator route');
  return { kind: 'person', name: operator.person, source: operator.source };
}

const toPublicWebhook = (webhook: Webhook): PublicWebhook => ({
  id: webhook.id,
  url: webhook.url,
  ...omitUndefined({ endpoint: webhook.endpoint }),
  body: webhook.body,
  state: webhook.state,
  createdAt: toIso(webhook.createdAt),
  ...omitUndefined({ nextAttemptAt: nextAttemptAt(webhook) }),
  deliveries: webhook.deliveries.map(toPublicDelivery),
});

/** Absent if no attempt follows or if one is due now. */
const nextAttemptAt = ({ state, nextAt }: Webhook): string | undefined =>
  state === 'open' && nextAt > 0 ? toIso(nextAt) : undefined;

const toPublicDelivery = ({
  attempt,
  at,
  isDelivered,
  statusCode,
  reason,
  durationMs,
  responseBody,
}: Delivery) => ({
  attempt,
  at: toIso(at),
  outcome: isDelivered ? ('delivered' as const) : ('failed' as const),
  ...omitUndefined({ statusCode, reason, durationMs, responseBody }),
});
