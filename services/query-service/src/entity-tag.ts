/** Answers about one thing carry an entity tag, so that who asks again and again is sent what has changed only (RFC 9110). */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Answers with `body` and its tag, or 304 without it where the caller has it already. The tag is made of the very bytes of
 * the answer: it changes with whatever is shown, a newer version of ours included, and two bodies never share one.
 */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  const text = JSON.stringify(body);
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
  // To be kept by the caller alone, and asked about before each use: it may have changed.
  reply.header('etag', tag).header('cache-control', 'private, no-cache');
  if (isKnown(tag, request.headers['if-none-match'])) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Tags may hold commas, so a list of them is not split by these. */
const tagPattern = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** By weak comparison, in which only what stands between the quotes counts. What is no list of tags names none. */
function isKnown(tag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.matchAll(tagPattern).some(([, known]) => known === tag);
}
