/** The webhooks of all teams that were not delivered, for people who operate the gateway: seen, and replayed. */
import { beginning } from '@tollgate/event-store';
import { addRoute, failingReplaySchema, routes, sendError } from '@tollgate/gateway-api/http';
import type { Actor } from '@tollgate/payment-domain';
import {
  InvariantViolation,
  type Log,
  omitUndefined,
  sendErrors,
  toErrorEntries,
} from '@tollgate/service-kit';
import type { Caller, Reach, SecurityWatch, TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { toPublicWebhook } from '../public-webhook.ts';
import { parsePlace } from '../endpoints/delivery-rows.ts';
import { toPublicEndpoint } from '../endpoints/route-kit.ts';
import type { WebhookJournal } from '../webhook-journal.ts';
import type { FailingRow, FailingWebhooks, WebhookOwners } from './failing-webhooks.ts';

interface FailingRouteDependencies {
  journal: WebhookJournal;
  failing: Pick<FailingWebhooks, 'rows'>;
  directory: TeamDirectory;
  recordCommand?: SecurityWatch['recordCommand'];
  log: Log;
}

/** Each is a load and an append. */
const replayedAtOnceMax = 500;
/** Endpoints that are listed at most. */
const disabledMax = 500;
/** Replayed side by side. */
const inParallel = 16;

export function registerFailingRoutes(app: FastifyInstance, deps: FailingRouteDependencies): void {
  const { journal, failing } = deps;

  addRoute(app, deps, routes.listFailingWebhooks, async ({ query, reach, reply }) => {
    const { perPage, cursor, ...asked } = query;
    const filter = { ...asked, owners: ownersIn(deps, reach) };
    const before = cursor === undefined ? undefined : parsePlace(cursor);
    if (cursor !== undefined && before === undefined) return sendRefusedCursor(reply);
    const rows = await failing.rows();
    const found = rows.page(filter, before, perPage + 1);
    const shown = found.slice(0, perPage);
    const webhooks = (await Promise.all(shown.map((row) => read(journal, row)))).flat();
    const nextCursor = found.length > perPage ? shown.at(-1)?.place : undefined;
    const count = rows.count(filter);
    return reply.send({ success: true, webhooks, count, perPage, ...omitUndefined({ nextCursor }) });
  });

  addRoute(app, deps, routes.listDisabledEndpoints, async ({ reach, reply }) => {
    const disabled = (await failing.rows()).disabledEndpoints().filter(reach.includes);
    const endpoints = disabled.slice(0, disabledMax).map((each) => ({
      ...toPublicEndpoint(each, each),
      team: each.team,
    }));
    return reply.send({ success: true, endpoints, count: disabled.length });
  });

  addRoute(app, deps, routes.replayFailingWebhook, async ({ caller, request, reach, reply }) => {
    const { webhook } = request.params as { webhook: string };
    const row = (await failing.rows()).find(webhook);
    if (row === undefined || !reach.includes(row)) return sendError(reply, 'webhook_not_found');
    const answer = await journal.requestReplay(row.token, row.id, personIn(caller));
    if (answer.kind === 'refused') return sendError(reply, answer.refusal.code);
    return reply.code(202).send({ success: true, webhooks: [{ id: row.id }] });
  });

  addRoute(app, deps, routes.replayFailingWebhooks, async ({ caller, request, reach, reply }) => {
    const parsed = failingReplaySchema.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const { cursor, ...asked } = parsed.data;
    const filter = { ...asked, status: 'failed', owners: ownersIn(deps, reach) } as const;
    const after = cursor === undefined ? beginning : parsePlace(cursor);
    if (after === undefined) return sendRefusedCursor(reply);
    const rows = (await failing.rows()).oldest(filter, after, replayedAtOnceMax);
    const replayed = await replayAll(journal, rows, personIn(caller));
    const nextCursor = rows.length === replayedAtOnceMax ? rows.at(-1)?.place : undefined;
    return reply.code(202).send({ success: true, replayed, ...omitUndefined({ nextCursor }) });
  });
}

/** Undefined for a person who reaches everything, also what is listed under no team. */
const ownersIn = ({ directory }: FailingRouteDependencies, reach: Reach): WebhookOwners =>
  reach.isEverywhere ? undefined : reach.ownersAmong(directory.names());

/** What has been delivered meanwhile, let go of, or replayed too often is passed over. @returns how many are sent again */
async function replayAll(
  journal: WebhookJournal,
  rows: readonly FailingRow[],
  person: Actor,
): Promise<number> {
  let replayed = 0;
  for (let start = 0; start < rows.length; start += inParallel) {
    const batch = rows.slice(start, start + inParallel);
    const answers = await Promise.all(
      batch.map(({ token, id }) => journal.requestReplay(token, id, person, 'given_up')),
    );
    for (const each of answers) replayed += each.kind === 'requested' ? each.newCount : 0;
  }
  return replayed;
}

const sendRefusedCursor = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'invalid_param', {
    message: 'cursor is not one that this list has given as nextCursor.',
    parameter: 'cursor',
  });

/** Nothing where it was let go of meanwhile. */
async function read(journal: WebhookJournal, { token, id }: FailingRow) {
  const { state } = await journal.load(token);
  const webhook = state.webhooks.find((each) => each.id === id);
  if (webhook === undefined) return [];
  const { team, environment } = webhook;
  return [{ ...toPublicWebhook(webhook), team, environment }];
}

/** No key of a team has the scopes of these routes. */
function personIn({ operator }: Caller): Actor {
  if (operator === undefined) throw new InvariantViolation('a team has called a route of operators');
  return { kind: 'person', name: operator.person, source: operator.source };
}
