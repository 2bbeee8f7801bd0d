/** The parts of the query service that its routes use, and reads of one object. */
import { createHash } from 'node:crypto';
import { isOwnedBy, isToken } from '@tollgate/core';
import type { EventStore } from '@tollgate/event-store';
import { routes, sendError, tellPosition, type Call, type PositionWaits } from '@tollgate/gateway-api/http';
import { type PaymentIndex } from '@tollgate/lists';
import { type Clock, type Log, type ReadShare, omitUndefined } from '@tollgate/service-kit';
import type { Caller, TeamDirectory } from '@tollgate/teams';
import { readView, type RecentViews, type ViewEnvelope, type ViewKind } from '@tollgate/views';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface ReadDependencies {
  store: EventStore;
  index: PaymentIndex;
  recent: RecentViews;
  directory: TeamDirectory;
  log: Log;
  clock: Clock;
  waits: PositionWaits;
  /** Share of the event loop for long reads. */
  share: ReadShare;
}

/** With its owner, for those who read across teams. */
export const withOwner =
  <View, Shown extends object>(toShown: (view: View) => Shown, ownerOf: (view: View) => Owner) =>
  (view: View) => {
    const { environment, team } = ownerOf(view);
    return { ...toShown(view), environment, ...omitUndefined({ team }) };
  };

/** Objects may have no team. */
type Owner = Pick<Caller, 'environment'> & { team?: string | undefined };

export const mayReadPayouts = ({ scopes }: Caller): boolean =>
  routes.listPayouts.scopes.some((scope) => scopes.has(scope));

export const sendPayoutsNotAllowed = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'scope_missing', {
    message: 'This API key lacks the scope read or payouts, which a list with payouts needs.',
  });

/** The caller's object with this token, with every event recorded before the call. @throws StoreUnavailable */
export async function ownView<View extends ViewEnvelope>(
  { store, recent }: Pick<ReadDependencies, 'store' | 'recent'>,
  kind: ViewKind<View>,
  caller: Caller,
  token: string,
): Promise<View | undefined> {
  const view = isToken(token) ? await readView(store, kind, token, recent) : undefined;
  return view !== undefined && isOwnedBy(kind.ownerOf(view), caller) ? view : undefined;
}

/**
 * Answers with one object and its entity tag (RFC 9110), or 304 without a body if the caller has it already, so that a polling
 * caller receives only changes. The tag is a hash of the answer's bytes: it changes whenever they do, including with a new
 * release, and two bodies never share one.
 */
export function sendOne(
  { request, reply }: Pick<Call, 'request' | 'reply'>,
  view: Pick<ViewEnvelope, 'position'>,
  body: object,
): FastifyReply {
  tellPosition(reply, [view]);
  const text = JSON.stringify({ success: true, ...body });
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
  reply.header('etag', tag);
  if (isKnown(tag, request)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Tags may contain commas, so a list of them is not split at commas. */
const tagPattern = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** Weak comparison: only the text between the quotes counts. A malformed list names no tag. */
function isKnown(tag: string, { headers: { 'if-none-match': known } }: FastifyRequest): boolean {
  if (known === undefined) return false;
  if (known.trim() === '*') return true;
  return known.matchAll(tagPattern).some(([, each]) => each === tag);
}
