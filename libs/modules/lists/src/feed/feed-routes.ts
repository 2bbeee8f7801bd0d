/** `GET /api/v1/events`: pages and long polls. */
import { type Clock, createPlaces } from '@tollgate/service-kit';
import type { PaymentIndex } from '../payment-index.ts';
import {
  type Call,
  authenticateAgain,
  routes,
  sendError,
  type ReadRouteDependencies,
  addReadRoute,
} from '@tollgate/gateway-api/http';
import type { Caller } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type FedRecord, type FeedPage, type PageDependencies, readFeedPage } from './feed-pages.ts';

export type FeedDependencies = ReadRouteDependencies &
  PageDependencies & { index: Pick<PaymentIndex, 'position'>; clock: Clock };

const waitedPageMax = 100;
/** Maximum waiting requests: each also holds a connection of the front door. */
const waitsPerKeyMax = 10;
const waitsMax = 500;
/** Maximum delay of a new event for a waiting request. @unit milliseconds */
const pollMs = 100;

type FeedCall = Call<(typeof routes)['listEvents']>;

export function registerFeedRoutes(app: FastifyInstance, deps: FeedDependencies): void {
  const closing = new AbortController();
  const places = createPlaces({ perHolderMax: waitsPerKeyMax, totalMax: waitsMax });
  app.addHook('preClose', async () => closing.abort());
  addReadRoute(app, deps, routes.listEvents, async (call) => {
    const { query, request, reply } = call;
    if (await isBeyondAll(deps, query.cursor)) return sendRefusedCursor(reply);
    // A disconnected client must not close twice: its place would never be released.
    if (reply.raw.destroyed) return reply.send();
    // A reader that does not wait needs no place.
    if (query.wait === 0) return sendPage(reply, await pageOf(deps, call, query.cursor));
    const leave = places.take(`${call.caller.team} ${call.caller.keyId}`);
    if (leave === undefined) return sendError(reply, 'too_many_waits');
    const gone = new AbortController();
    reply.raw.once('close', () => {
      leave();
      gone.abort();
    });
    const page = await pageInTime(deps, call, AbortSignal.any([gone.signal, closing.signal]));
    // The key may have been revoked during the wait.
    if ((await authenticateAgain(deps.directory, request, reply, routes.listEvents)) === undefined)
      return reply;
    return sendPage(reply, page);
  });
}

/**
 * No event has had that position: the text was changed, or the store was restored since. Nothing can follow it until unread
 * events have filled the gap.
 */
const isBeyondAll = async ({ index, store }: FeedDependencies, after: string): Promise<boolean> =>
  after > index.position() && after > (await store.head());

const sendRefusedCursor = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'invalid_param', {
    message:
      'cursor is beyond the last recorded event. Send a cursor that this feed returned, or none to start with the first event.',
    parameter: 'cursor',
  });

const pageOf = (deps: FeedDependencies, { caller, query }: FeedCall, after: string): Promise<FeedPage> =>
  readFeedPage(deps, caller, {
    after,
    limit: query.wait === 0 ? query.perPage : Math.min(query.perPage, waitedPageMax),
  });

/** If there is nothing, waits for the next event. */
async function pageInTime(deps: FeedDependencies, call: FeedCall, signal: AbortSignal): Promise<FeedPage> {
  const until = deps.clock.monotonic() + call.query.wait * 1_000;
  let { cursor } = call.query;
  for (;;) {
    const page = await pageOf(deps, call, cursor);
    ({ cursor } = page);
    const leftMs = until - deps.clock.monotonic();
    if (page.records.length > 0 || leftMs <= 0 || signal.aborted) return page;
    await untilNext(deps, call.caller, page.cursor, { waitMs: leftMs, signal });
  }
}

/** Resolves when the index has a later event of the caller's team, after `waitMs`, or when the signal is aborted. */
async function untilNext(
  { index, clock }: FeedDependencies,
  caller: Caller,
  after: string,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<void> {
  const until = clock.monotonic() + waitMs;
  while (!signal.aborted && clock.monotonic() < until) {
    if (index.eventsAfter(caller, { after, limit: 1 }).length > 0) return;
    await clock.sleep(Math.min(pollMs, until - clock.monotonic()), signal).catch(() => undefined);
  }
}

function sendPage(reply: FastifyReply, { records, cursor, isAtEnd }: FeedPage): FastifyReply {
  // The values are already JSON, byte for byte as on the topic.
  const events = records.map(toJson).join(',');
  const body = `{"success":true,"events":[${events}],"cursor":${JSON.stringify(cursor)},"isAtEnd":${isAtEnd}}`;
  return reply.type('application/json; charset=utf-8').send(body);
}

const toJson = ({ cursor, topic, type, json }: FedRecord): string =>
  `{"cursor":${JSON.stringify(cursor)},"topic":${JSON.stringify(topic)},"type":${JSON.stringify(type)},"record":${json}}`;
