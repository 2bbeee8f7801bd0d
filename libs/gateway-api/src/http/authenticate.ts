/** The first step of every route: whose request is this, and does the key have the scope? */
import type { Caller, Scope, TeamDirectory } from '@tollgate/teams';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from './errors.ts';

/**
 * The caller of a request whose key has one of the scopes, or undefined once the request is refused:
 * 401 `auth_header_not_found` or `incorrect_private_key`, 403 `scope_missing`.
 */
export function authenticate(
  directory: Pick<TeamDirectory, 'authenticate'>,
  request: FastifyRequest,
  reply: FastifyReply,
  scopes: readonly Scope[],
): Caller | undefined {
  const authentication = directory.authenticate(request.headers.authorization);
  if (authentication.kind === 'refused') {
    sendError(reply.header('www-authenticate', 'Bearer'), authentication.code);
    return undefined;
  }
  if (scopes.some((each) => authentication.caller.scopes.has(each))) return authentication.caller;
  sendError(reply, 'scope_missing', {
    message: `The API key lacks the scope ${scopes.join(' or ')}. Use a key that has it.`,
  });
  return undefined;
}
