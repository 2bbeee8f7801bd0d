/** Entity tags for answers about one resource, so that a polling caller receives only changes (RFC 9110). */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Answers with `body` and its tag, or 304 without a body if the caller has it already. The tag is a hash of the answer's bytes:
 * it changes whenever they do, including with a new release, and two bodies never share one.
 */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  const text = JSON.stringify(body);
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
  reply.header('etag', tag);
  if (isKnown(tag, request.headers['if-none-match'])) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Tags may contain commas, so a list of them is not split at commas. */
const tagPattern = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** Weak comparison: only the text between the quotes counts. A malformed list names no tag. */
function isKnown(tag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.matchAll(tagPattern).some(([, known]) => known === tag);
}
