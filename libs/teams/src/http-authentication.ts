/** The first step of every route of ours: whose request is this, and may that key do it? */
import type { Scope } from './team.ts';
import { sendErrors } from '@tollgate/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authentication, Caller, TeamDirectory } from './team-directory.ts';

type RefusalCode = Extract<Authentication, { kind: 'refused' }>['code'];

const messageByRefusal: Record<RefusalCode, string> = {
  auth_header_not_found: 'Send the header Authorization: Bearer <API key>.',
  incorrect_private_key: 'This is not an active API key of this environment.',
};

/**
 * The caller of a request whose key has `scope` (or one of several), or undefined where the request has been answered:
 * 401 `auth_header_not_found` or `incorrect_private_key`, 403 `scope_missing`.
 */
export function authenticate(
  directory: TeamDirectory,
  request: FastifyRequest,
  reply: FastifyReply,
  scope: Scope | readonly Scope[],
): Caller | undefined {
  const authentication = directory.authenticate(request.headers.authorization);
  if (authentication.kind === 'refused') {
    const { code } = authentication;
    const message = messageByRefusal[code];
    sendErrors(reply.header('www-authenticate', 'Bearer'), 401, [
      { code, kind: 'authentication_error', message },
    ]);
    return undefined;
  }
  const allowed = typeof scope === 'string' ? [scope] : scope;
  if (allowed.some((each) => authentication.caller.scopes.has(each))) return authentication.caller;
  const message = `This API key lacks the scope ${allowed.join(' or ')}.`;
  sendErrors(reply, 403, [{ code: 'scope_missing', kind: 'authentication_error', message }]);
  return undefined;
}
