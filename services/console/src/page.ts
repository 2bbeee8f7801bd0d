/** The context of a page, and functions that add pages and actions to the server. */
import { createHash } from 'node:crypto';
import type { Clock, Ids } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiRefusal, type Api } from './api.ts';
import { type Rendered, layout } from './components/layout.ts';
import type { Outcome } from './components/notice.ts';
import type { Assets } from './static-files.ts';
import { secureAttribute, setCookie } from './session/cookies.ts';
import { isOwnForm } from './session/forgery.ts';
import { keepReturnAddress } from './session/return-address.ts';
import { seal, unseal } from './session/sealed.ts';
import { type Session, type Sessions, sessionCookie } from './session/sessions.ts';
import { failurePage, signInFirstPage } from './pages/failure.ts';
import { texts } from './texts.ts';

export interface ConsoleKit {
  sessions: Sessions;
  /** The API as the person of a session. */
  apiOf(session: Session, address: string): Api;
  assets: Assets;
  clock: Clock;
  ids: Pick<Ids, 'hex'>;
  mac(purpose: string, text: string): string;
  hasSandbox: boolean;
  refresh: Refresh;
  /** A browser that reads nothing of a file for this long is disconnected. @unit milliseconds */
  exportStalledMs: number;
  /** URL for signing in with an organization's account. */
  organization?: string | undefined;
  /** URL of the console for browsers, if configured. */
  publicUrl?: string | undefined;
}

export interface PageContext {
  session: Session;
  api: Api;
  query: URLSearchParams;
  /** Parameters in the URL. */
  params: Readonly<Record<string, string>>;
  /** The URL with its query, to which forms return. */
  address: string;
  /** The outcome of the reader's last action. */
  outcome: Outcome | undefined;
  now: number;
  hasSandbox: boolean;
  /** Ids of the columns chosen for a list, from the URL or the browser. */
  columnsOf(list: string): ReadonlySet<string> | undefined;
  /** Idempotency key of an action: constant while its subject is unchanged, so that a form sent twice acts once. */
  idempotencyKey(...parts: readonly (string | number)[]): string;
  /** A new key for each call. */
  newKey(): string;
  /** Id for a team's key that has not been issued yet. */
  newKeyId(): string;
}

/** Returns a page, or redirects. */
export type Page = (context: PageContext) => Promise<Rendered | { location: string }>;

/** Redirects to a page that shows the outcome, or returns a page that shows it once. */
interface Done {
  location: string;
  outcome?: Outcome;
}
export type Action = (context: PageContext, form: URLSearchParams) => Promise<Done | Rendered>;

export function addPage(app: FastifyInstance, kit: ConsoleKit, url: string, page: Page): void {
  app.get(url, async (request, reply) => {
    const path = pathOf(request);
    if (path.endsWith('/')) return reply.redirect(request.url.replace(path, withoutSlashes(path)), 303);
    const session = await admit(kit, request, reply);
    if (session === undefined) return reply;
    const build = () => page(contextOf(kit, request, session)).catch((error: unknown) => toFailure(error));
    const rendered = isUnattended(request) ? await kit.refresh(build) : await build();
    if (rendered === undefined) return protect(reply).code(204).send();
    return 'location' in rendered
      ? reply.redirect(rendered.location, 303)
      : send(kit, request, reply, rendered, session);
  });
}

export function addAction(app: FastifyInstance, kit: ConsoleKit, url: string, action: Action): void {
  app.post(url, async (request, reply) => {
    const session = await admit(kit, request, reply);
    if (session === undefined) return reply;
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    if (!isOwnForm(request, session, form.get('csrf') ?? undefined))
      return send(
        kit,
        request,
        reply,
        failurePage(
          403,
          texts.errors.title,
          'This form belongs to another session. Nothing was done. Reload the page and send it again.',
        ),
        session,
      );
    const context = contextOf(kit, request, session);
    const done = await action(context, form).catch((error: unknown) => toFailure(error));
    if (!('location' in done)) return send(kit, request, reply, done, session);
    return reply.redirect(withOutcome(kit, session, done), 303);
  });
}

/** Automatic page loads have this header with the version that they show: only a person's actions extend a session. */
const unattendedHeader = 'tollgate-unattended';
const versionHeader = 'tollgate-page-version';
const isUnattended = ({ headers }: FastifyRequest): boolean => headers[unattendedHeader] !== undefined;

/** Builds a page for an open browser window; undefined if it must ask again later. */
type Refresh = <Built>(build: () => Promise<Built>) => Promise<Built | undefined>;

/** Maximum share of time in which open pages are refreshed. */
const refreshShare = 0.1;

/** One refresh at a time, and pauses between them, so that readers with many windows do not slow down payments. */
export function createRefresh(clock: Pick<Clock, 'monotonic'>): Refresh {
  let nextAt = 0;
  return async (build) => {
    const begunAt = clock.monotonic();
    if (begunAt < nextAt) return undefined;
    nextAt = Infinity;
    try {
      return await build();
    } finally {
      nextAt = begunAt + (clock.monotonic() - begunAt) / refreshShare;
    }
  };
}

/** The session of a request. Undefined if the answer was already sent, because the person must sign in first. */
export async function admit(
  kit: ConsoleKit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Session | undefined> {
  const { session, message } = { message: undefined, ...(await kit.sessions.of(request)) };
  if (session === undefined) {
    if (!isUnattended(request)) keepReturnAddress(request, reply, secureAttribute(request, kit.publicUrl));
    send(kit, request, reply, signInFirstPage(kit.organization, message));
    return undefined;
  }
  if (!isUnattended(request)) keepSignedIn(kit, request, reply, session);
  return session;
}

function keepSignedIn(
  { sessions, clock, publicUrl }: Pick<ConsoleKit, 'sessions' | 'clock' | 'publicUrl'>,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
): void {
  const age = Math.max(0, Math.floor((session.expiresAt - clock.now()) / 1_000));
  const secure = secureAttribute(request, publicUrl);
  setCookie(reply, { name: sessionCookie, value: sessions.renew(session), age, secure });
}

export function contextOf(kit: ConsoleKit, request: FastifyRequest, session: Session): PageContext {
  const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  const sealed = query.get('done');
  query.delete('done');
  const path = pathOf(request);
  return {
    session,
    api: kit.apiOf(session, request.ip),
    query,
    params: request.params as Readonly<Record<string, string>>,
    address: query.size === 0 ? path : `${path}?${query.toString()}`,
    outcome:
      sealed === null ? undefined : (unseal(kit.mac, `outcome ${session.id}`, sealed) as Outcome | undefined),
    now: kit.clock.now(),
    hasSandbox: kit.hasSandbox,
    columnsOf: (list) => chosenColumns(list, query, request.headers.cookie ?? ''),
    newKey: () => `console-${kit.ids.hex(16)}`,
    newKeyId: () => kit.ids.hex(6),
    idempotencyKey: (...parts) =>
      `console-${kit.mac('key', JSON.stringify([session.id, ...parts])).slice(0, 40)}`,
  };
}

function chosenColumns(
  list: string,
  query: URLSearchParams,
  cookies: string,
): ReadonlySet<string> | undefined {
  const asked = query.getAll('column');
  if (asked.length > 0) return new Set(asked);
  const start = `tollgate-columns-${list}=`;
  const kept = cookies.split('; ').find((each) => each.startsWith(start));
  return kept === undefined ? undefined : new Set(kept.slice(start.length).split('.'));
}

/** The lookbehind prevents quadratic time for many slashes. */
export const withoutSlashes = (path: string): string => path.replace(/(?<!\/)\/+$/, '');

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '';

/** Of its text, because it is passed in the URL. @unit characters */
const outcomeLengthMax = 1_000;

function withOutcome({ mac }: ConsoleKit, session: Session, { location, outcome }: Done): string {
  if (outcome === undefined) return location;
  const separator = location.includes('?') ? '&' : '?';
  const short = { ...outcome, text: outcome.text.slice(0, outcomeLengthMax) };
  return `${location}${separator}done=${seal(mac, `outcome ${session.id}`, short)}`;
}

function toFailure(error: unknown): Rendered {
  if (!(error instanceof ApiRefusal)) throw error;
  const { status, message, requestId } = error;
  if (status === 404) return failurePage(404, 'Page not found', texts.errors.notFoundText, requestId);
  return failurePage(status, texts.errors.title, message, requestId);
}

/** Allows no external content, no external targets, only our own scripts, and no framing. */
const contentSecurityPolicy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:",
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
].join('; ');

export function send(
  { assets, hasSandbox }: Pick<ConsoleKit, 'assets' | 'hasSandbox'>,
  request: FastifyRequest,
  reply: FastifyReply,
  page: Rendered,
  session?: Session,
): FastifyReply {
  const surroundings = { path: pathOf(request), assets: assets.addresses, hasSandbox };
  const text = layout(page, session === undefined ? surroundings : { ...surroundings, session });
  if (page.isLive === true) {
    // Not an ETag: answers with one are not compressed.
    const version = createHash('sha256').update(text).digest('base64url');
    reply.header(versionHeader, version);
    if (request.headers[unattendedHeader] === version) return protect(reply).code(204).send();
  }
  return protect(reply)
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(text);
}

export const protect = (reply: FastifyReply): FastifyReply =>
  reply.headers({
    'content-security-policy': contentSecurityPolicy,
    // With `no-referrer`, a browser would not send the origin of a form.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
