/** Lists webhooks and sends them again: those of a team, and those of all teams for operators. */
import { type Position, beginning } from '@tollgate/event-store';
import { toPublicWebhook } from '@tollgate/gateway-api';
import {
  type Call,
  addRoute,
  bodySchemas,
  routes,
  sendError,
  sendRefusedPage,
} from '@tollgate/gateway-api/http';
import { type Actor, InvariantViolation, isToken } from '@tollgate/core';
import { type Log, omitUndefined, sendErrors, toErrorEntries } from '@tollgate/service-kit';
import { type Caller, type SecurityWatch, type TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { z } from 'zod';
import { type Deliveries, type DeliveryFilter, type DeliveryRow, parsePlace } from './deliveries.ts';
import type { EndpointBook } from './endpoints/endpoint-book.ts';
import type { EndpointOwner } from './endpoints/endpoint.ts';
import { endpointOfQueue, queueAtEndpoint } from './webhook-events.ts';
import type { WebhookJournal } from './webhook-journal.ts';
import type { Webhook } from './webhook-state.ts';

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

/** A webhook in its queue. */
type Located = Pick<DeliveryRow, 'queue' | 'id' | 'team' | 'environment'>;

export function registerDeliveryRoutes(app: FastifyInstance, deps: DeliveryRouteDependencies): void {
  addRoute(app, deps, routes.listWebhooks, async ({ caller, query, reply }) => {
    const { token, perPage, cursor, ...asked } = query;
    if (token !== undefined) {
      const all = await webhooksAbout(deps, caller, token);
      const webhooks = all.map(({ webhook }) => webhook).filter((each) => matches(each, asked));
      return reply.send({ success: true, webhooks: webhooks.map(toShown), perPage });
    }
    const page = await pageOf(deps, { ...asked, owners: [caller] }, { perPage, cursor });
    if (page === undefined) return sendRefusedPage(reply, 'cursor');
    const { nextCursor } = page;
    const webhooks = page.webhooks.map(toShown);
    return reply.send({ success: true, webhooks, perPage, ...omitUndefined({ nextCursor }) });
  });
  addRoute(app, deps, routes.listWebhooksOfAll, async ({ query, reach, reply }) => {
    const { perPage, cursor, ...asked } = query;
    const owners = reach.isEverywhere ? undefined : reach.ownersAmong(deps.directory.names());
    const filter = { ...asked, owners };
    const page = await pageOf(deps, filter, { perPage, cursor });
    if (page === undefined) return sendRefusedPage(reply, 'cursor');
    const { nextCursor } = page;
    const webhooks = page.webhooks.map((webhook) => {
      const { team, environment } = webhook;
      return { ...toShown(webhook), team, environment };
    });
    const count = await deps.deliveries.read((rows) => rows.count(filter));
    return reply.send({ success: true, webhooks, count, perPage, ...omitUndefined({ nextCursor }) });
  });
  addRoute(app, deps, routes.replayWebhooks, async (call) => {
    const { caller, request, reply } = call;
    const parsed = bodySchemas.WebhookReplay.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const { token, id } = parsed.data;
    const owners = [caller];
    const actor: Actor = { kind: 'team', team: caller.team, keyId: caller.keyId };
    if (token === undefined) return replay(deps, call, { ...parsed.data, owners, actor });
    const all = (await webhooksAbout(deps, caller, token)).filter(
      (each) => id === undefined || each.id === id,
    );
    if (id === undefined && all.length === 0)
      return sendError(reply, 'webhook_not_found', {
        message: 'No webhook about this token exists yet. Read the list of webhooks.',
        parameter: 'token',
      });
    return replayEach(deps, reply, all, actor);
  });
  addRoute(app, deps, routes.replayWebhooksOfAll, async (call) => {
    const { caller, request, reach, reply } = call;
    const parsed = bodySchemas.OperatorWebhookReplay.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const owners = reach.isEverywhere ? undefined : reach.ownersAmong(deps.directory.names());
    return replay(deps, call, { ...parsed.data, owners, actor: personIn(caller) });
  });
}

/** Undefined for a cursor of another list. A webhook that changed or was deleted meanwhile may be omitted. */
async function pageOf(
  { deliveries, journal }: DeliveryRouteDependencies,
  filter: DeliveryFilter,
  { perPage, cursor }: { perPage: number; cursor: string | undefined },
): Promise<{ webhooks: Webhook[]; nextCursor: string | undefined } | undefined> {
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  if (cursor !== undefined && after === undefined) return undefined;
  const found = await deliveries.read((rows) => rows.page(filter, after, perPage + 1));
  const rows = found.slice(0, perPage);
  const webhooks = await Promise.all(
    rows.map(async ({ queue, id }) =>
      (await journal.load(queue)).state.webhooks.find((each) => each.id === id),
    ),
  );
  const last = rows.at(-1);
  const hasMore = found.length > perPage && last !== undefined;
  return {
    webhooks: webhooks.filter((each) => each !== undefined),
    nextCursor: hasMore ? `${last.rank}-${last.place}` : undefined,
  };
}

function parseCursor(text: string): Pick<DeliveryRow, 'rank' | 'place'> | undefined {
  const [, rank, rest = ''] = /^([0-3])-(.*)$/.exec(text) ?? [];
  const place = parsePlace(rest);
  return place === undefined ? undefined : { rank: Number(rank), place };
}

/** The caller's webhooks about one payment or payout, oldest first, read from their streams. */
async function webhooksAbout(
  { journal, book }: DeliveryRouteDependencies,
  { environment, team }: Caller,
  token: string,
): Promise<(Located & { webhook: Webhook })[]> {
  if (!isToken(token)) return [];
  const endpoints = await book.list({ environment, team });
  const queues = [token, ...endpoints.map(({ id }) => queueAtEndpoint(id, token))];
  const loaded = await Promise.all(
    queues.map(async (queue) =>
      (await journal.load(queue)).state.webhooks.map((webhook) => ({ ...webhook, queue, webhook })),
    ),
  );
  return loaded
    .flat()
    .filter((each) => each.team === team && each.environment === environment)
    .toSorted((one, other) => one.createdAt - other.createdAt);
}

const states = { failed: 'given_up', retrying: 'open', open: 'open', delivered: 'delivered' } as const;

function matches(
  { endpoint, state, deliveries, createdAt }: Webhook,
  { status, createdFrom = 0, createdBefore = Infinity, ...asked }: Omit<DeliveryFilter, 'owners'>,
): boolean {
  if (asked.endpoint !== undefined && endpoint !== asked.endpoint) return false;
  if (status !== undefined && state !== states[status]) return false;
  if (status === 'retrying' && deliveries.length === 0) return false;
  return createdAt >= createdFrom && createdAt < createdBefore;
}

interface Replay extends z.infer<typeof bodySchemas.OperatorWebhookReplay> {
  owners: DeliveryFilter['owners'];
  actor: Actor;
}

async function replay(
  deps: DeliveryRouteDependencies,
  { reply }: Pick<Call, 'reply'>,
  { id, cursor, actor, ...filter }: Replay,
): Promise<FastifyReply> {
  const { owners, status } = filter;
  if (id !== undefined) {
    const row = await deps.deliveries.read((rows) => rows.find(id));
    const isVisible = row !== undefined && (owners === undefined || owners.some((each) => isOf(row, each)));
    return replayEach(deps, reply, isVisible ? [row] : [], actor);
  }
  const after: Position | undefined = cursor === undefined ? beginning : parsePlace(cursor);
  if (after === undefined) return sendRefusedPage(reply, 'cursor');
  const rows = await deps.deliveries.read((all) => all.oldestFirst(filter, after, replayedTogetherMax));
  const only = status === 'failed' ? 'given_up' : 'delivered';
  const { replayed, refusal } = await replayAll(deps, rows, actor, only);
  if (filter.endpoint !== undefined && refusal === 'webhook_endpoint_disabled')
    return sendError(reply, refusal);
  const nextCursor = rows.length === replayedTogetherMax ? rows.at(-1)?.place : undefined;
  return reply.code(202).send({ success: true, replayed, ...omitUndefined({ nextCursor }) });
}

/** Refused if none of them can be sent again. */
async function replayEach(
  deps: DeliveryRouteDependencies,
  reply: FastifyReply,
  webhooks: readonly Located[],
  actor: Actor,
): Promise<FastifyReply> {
  if (webhooks.length === 0) return sendError(reply, 'webhook_not_found');
  const { replayed, accepted, refusal } = await replayAll(deps, webhooks, actor);
  if (accepted === 0 && refusal !== undefined) return sendError(reply, refusal);
  return reply.code(202).send({ success: true, replayed });
}

type ReplayFailure = 'webhook_endpoint_disabled' | 'webhook_not_found' | 'too_many_replays';

/**
 * Skips a webhook that was replayed too often, or whose endpoint is disabled: nothing is sent there, and a delivered one would
 * be abandoned.
 */
async function replayAll(
  { journal, book }: Pick<DeliveryRouteDependencies, 'journal' | 'book'>,
  webhooks: readonly Located[],
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
        total.replayed += answer.newCount;
      }
  }
  return total;
}

/** Disabled or removed endpoints of these webhooks. */
async function endpointsWithoutDelivery(
  book: Pick<EndpointBook, 'list'>,
  webhooks: readonly Located[],
): Promise<ReadonlySet<string>> {
  const ended = new Set<string>();
  const byOwner = Map.groupBy(webhooks, ({ environment, team }) => `${environment} ${team}`);
  for (const [first, ...others] of byOwner.values()) {
    const ids = [first, ...others].flatMap((each) => (each && endpointOfQueue(each.queue)) ?? []);
    if (first === undefined || ids.length === 0) continue;
    const known = await book.list(first as EndpointOwner);
    const enabled = new Set(known.filter(({ disabled }) => disabled === undefined).map(({ id }) => id));
    for (const id of ids) if (!enabled.has(id)) ended.add(id);
  }
  return ended;
}

const isOf = (row: Located, { team, environment }: { team: string; environment: string }): boolean =>
  row.team === team && row.environment === environment;

/** No key of a team has the scopes of the routes across teams. */
function personIn({ operator }: Caller): Actor {
  if (operator === undefined) throw new InvariantViolation('a team called an operator route');
  return { kind: 'person', name: operator.person, source: operator.source };
}

const toShown = ({ state, nextAt, deliveries, ...webhook }: Webhook) =>
  toPublicWebhook({
    ...webhook,
    state,
    nextAttemptAt: state === 'open' && nextAt > 0 ? nextAt : undefined,
    deliveries: deliveries.map(({ isDelivered, ...tried }) => ({
      ...tried,
      outcome: isDelivered ? 'delivered' : 'failed',
    })),
  });
