/**
 * Notifies a browser when its page has changed. The page is rebuilt as its reader would see it, and compared. Every
 * page is therefore live without code of its own.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Clock, Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type ConsoleKit, unattendedHeader } from './page.ts';
import { cookieHeader } from './session/sessions.ts';

/** Minimum interval between two checks of a page. @unit milliseconds */
const everyMs = 1_000;
/** Maximum share of time for all checks together: slow pages are checked less often. */
const lookingShare = 0.1;
/** Maximum number of watched pages, per session and in total; others must be reloaded manually. */
const ofSessionMax = 8;
const watchedMax = 200;
/**
 * The browser then reconnects automatically with its current cookie. It is refused if the person was inactive in all
 * pages for the idle time, which is longer than this. @unit milliseconds
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

/** One page for all watchers with the same grants. */
interface Look {
  page: string;
  watchers: Set<Watcher>;
  /** The last built version of the page. */
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
    // The watch must not depend on the age of its cookie: another page may have renewed it.
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
    // The page may have changed since it was loaded, so the comparison starts from the current version.
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

  /** Runs while the page has watchers. */
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

/**
 * True for the console's pages, except the live stream itself and pages that request a balance from the Payment
 * Service.
 */
const isPage = (address: string): boolean =>
  /^\/console(\/(payments|payouts|refunds|disputes|money|reviews|reconciliations|webhooks|requests|accounts)([/?][^\s]{0,1000})?)?$/.test(
    address,
  ) &&
  !address.includes('..') &&
  !new URLSearchParams(address.split('?', 2)[1] ?? '').has('balance');

function begin(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    // A kept-alive connection would keep a closing server open.
    connection: 'close',
  });
  reply.raw.write('retry: 3000\n\n');
  return reply;
}
