/**
 * Tells a browser that the page it shows has changed. The page is made again, as its reader would see it, and compared: so
 * every page is live, and none needs to know how.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Clock, Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type ConsoleKit, unattendedHeader } from './page.ts';
import { cookieHeader } from './session/sessions.ts';

/** How often a page is looked at at most, milliseconds. */
const everyMs = 1_000;
/** All looks together take this part of the time at most: a page that is slow to make is looked at less often. */
const lookingShare = 0.1;
/** Pages that are watched at once at most, of one session and of all; the others are loaded again by hand. */
const ofSessionMax = 8;
const watchedMax = 200;
/**
 * The browser then reconnects by itself, with the cookie that it has by then: refused if its person has not acted in any
 * page for the idle time, of which this is less, milliseconds.
 */
const watchedForMs = 45_000;

export interface LiveDependencies extends Pick<ConsoleKit, 'sessions'> {
  clock: Clock;
  log: Log;
}

interface Watcher {
  session: string;
  request: { headers: Record<string, string>; ip: string };
  response: ServerResponse;
  until: number;
}

/** One page, as those with the same grants see it, however many of them have it before them. */
interface Look {
  page: string;
  watchers: Set<Watcher>;
  /** Of the page as it was made last. */
  shown?: string;
  ending: AbortController;
}

export function registerLive(app: FastifyInstance, { sessions, clock, log }: LiveDependencies): void {
  const looks = new Map<string, Look>();
  const watchers = () => looks.values().flatMap((look) => look.watchers);
  app.addHook('preClose', async () => {
    for (const look of looks.values()) look.ending.abort();
  });

  app.get('/console/live', async (request, reply) => {
    const { session } = await sessions.of(request);
    const page = new URLSearchParams(request.url.split('?', 2)[1] ?? '').get('page') ?? '';
    if (session === undefined) return reply.code(401).send();
    if (!isPage(page)) return reply.code(400).send();
    const sessionsNow = [...watchers()].map((each) => each.session);
    const ofSession = sessionsNow.filter((each) => each === session.id);
    if (sessionsNow.length >= watchedMax || ofSession.length >= ofSessionMax) return reply.code(429).send();
    const { raw: response } = begin(reply);
    const until = clock.monotonic() + watchedForMs;
    // As long as it lasts, the watch must not depend on when the cookie was made: another page may have renewed it.
    const headers = { cookie: cookieHeader(sessions.renew(session)), [unattendedHeader]: '1' };
    const key = JSON.stringify([session.grants, page]);
    join(key, page, { session: session.id, request: { headers, ip: request.ip }, response, until });
    return reply;
  });

  function join(key: string, page: string, watcher: Watcher): void {
    const known = looks.get(key);
    const look = known ?? { page, watchers: new Set(), ending: new AbortController() };
    const end = () => {
      look.ending.abort();
      if (looks.get(key) === look) looks.delete(key);
    };
    look.watchers.add(watcher);
    watcher.response.once('close', () => {
      look.watchers.delete(watcher);
      if (look.watchers.size === 0) end();
    });
    // The page may have changed between its loading and this: what is compared with is what the browser loads now.
    if (look.shown !== undefined) watcher.response.write(changed);
    if (known !== undefined) return;
    looks.set(key, look);
    void follow(look)
      .catch((error: unknown) => {
        if (!look.ending.signal.aborted) log.warn({ error }, 'a live page of the console has ended');
      })
      .finally(() => {
        end();
        for (const { response } of look.watchers) response.end();
      });
  }

  /** For as long as somebody watches. */
  async function follow(look: Look): Promise<void> {
    const { watchers: all, ending } = look;
    for (;;) {
      const begunAt = clock.monotonic();
      for (const each of all) if (await isOver(each)) leave(look, each);
      const [reader] = all;
      if (reader === undefined || ending.signal.aborted) return;
      const now = await read(look.page, reader);
      const tookMs = clock.monotonic() - begunAt;
      if (now !== look.shown) for (const { response } of all) response.write(changed);
      look.shown = now;
      await clock.sleep(Math.max(everyMs, (tookMs * looks.size) / lookingShare), ending.signal);
    }
  }

  const isOver = async ({ request, until }: Watcher): Promise<boolean> =>
    clock.monotonic() >= until || (await sessions.of(request)).session === undefined;

  function leave({ watchers: all }: Look, watcher: Watcher): void {
    all.delete(watcher);
    watcher.response.end();
  }

  async function read(page: string, { request: { headers, ip } }: Watcher): Promise<string> {
    const { body } = await app.inject({ url: page, headers, remoteAddress: ip });
    return createHash('sha256').update(body).digest('base64');
  }
}

const changed = 'event: changed\ndata:\n\n';

/** A page of ours, and not what watches it, or what asks the Payment Service for a balance each time it is made. */
const isPage = (address: string): boolean =>
  /^\/console(\/(payments|payouts|refunds|disputes|money|reviews|reconciliations|webhooks|accounts)([/?][^\s]{0,1000})?)?$/.test(
    address,
  ) &&
  !address.includes('..') &&
  !new URLSearchParams(address.split('?', 2)[1] ?? '').has('balance');

function begin(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    // Kept by the browser after the stream, the connection would hold a closing server open.
    connection: 'close',
  });
  reply.raw.write('retry: 3000\n\n');
  return reply;
}
