/**
 * Tells a browser that the page it shows has changed. The page is made again, as its reader would see it, and compared: so
 * every page is live, and none needs to know how.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Clock, Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleKit } from './page.ts';

/** How often a page is looked at, milliseconds. */
const everyMs = 1_000;
/** Pages that are watched at once at most, of one session and of all; the others are loaded again by hand. */
const ofSessionMax = 8;
const watchedMax = 200;
/** A browser begins again by itself, and whoever is not signed in any more is not told. */
const watchedForMs = 15 * 60_000;

export interface LiveDependencies extends Pick<ConsoleKit, 'sessions'> {
  clock: Clock;
  log: Log;
}

export function registerLive(app: FastifyInstance, { sessions, clock, log }: LiveDependencies): void {
  const watched = new Map<ServerResponse, { session: string; ending: AbortController }>();
  app.addHook('preClose', async () => {
    for (const { ending } of watched.values()) ending.abort();
  });

  app.get('/console/live', async (request, reply) => {
    const session = sessions.of(request);
    const page = new URLSearchParams(request.url.split('?', 2)[1] ?? '').get('page') ?? '';
    if (session === undefined) return reply.code(401).send();
    if (!isPage(page)) return reply.code(400).send();
    const ofSession = watched.values().filter((each) => each.session === session.id);
    if (watched.size >= watchedMax || [...ofSession].length >= ofSessionMax) return reply.code(429).send();
    const ending = new AbortController();
    const { raw } = begin(reply);
    watched.set(raw, { session: session.id, ending });
    raw.once('close', () => {
      watched.delete(raw);
      ending.abort();
    });
    await watch(request, raw, page, ending.signal).catch((error: unknown) => {
      if (!ending.signal.aborted) log.warn({ error }, 'a page of the console is not watched any more');
    });
    raw.end();
    return reply;
  });

  async function watch(
    { headers, ip }: FastifyRequest,
    response: ServerResponse,
    page: string,
    signal: AbortSignal,
  ): Promise<void> {
    const until = clock.monotonic() + watchedForMs;
    const read = async () => {
      const { cookie = '' } = headers;
      const answer = await app.inject({ url: page, headers: { cookie }, remoteAddress: ip });
      return answer.statusCode === 401
        ? undefined
        : createHash('sha256').update(answer.body).digest('base64');
    };
    let shown = await read();
    // The page may have changed between its loading and this: what is compared with is what the browser loads now.
    if (shown !== undefined) response.write(changed);
    while (!signal.aborted && shown !== undefined && clock.monotonic() < until) {
      await clock.sleep(everyMs, signal);
      const now = await read();
      if (now === shown) continue;
      shown = now;
      response.write(changed);
    }
  }
}

const changed = 'event: changed\ndata:\n\n';

/** A page of ours, and not what watches it. */
const isPage = (address: string): boolean =>
  /^\/console(\/(payments|payouts|reviews|reconciliations|webhooks|accounts)([/?][^\s]{0,1000})?)?$/.test(
    address,
  ) && !address.includes('..');

function begin(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(200, {
    ...{ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
    'x-accel-buffering': 'no',
    // Kept by the browser after the stream, the connection would hold a closing server open.
    connection: 'close',
  });
  reply.raw.write('retry: 3000\n\n');
  return reply;
}
