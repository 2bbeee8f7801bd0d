/** The first step of every route: whose request is this, and does the key have the scope? */
import { type Caller, type Scope, type TeamDirectory } from '@tollgate/teams';
import { given } from '@tollgate/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from './errors.ts';

/** What routes need of the directory of teams. */
export type Access = Pick<TeamDirectory, 'authenticate' | 'noteRefusal'>;

/**
 * The caller of a request whose key has one of the scopes, or undefined once the request is refused:
 * 401 `auth_header_not_found`, `incorrect_private_key` or `api_key_expired`, 403 `network_not_allowed` or `scope_missing`.
 */
export function authenticate(
  directory: Access,
  request: FastifyRequest,
  reply: FastifyReply,
  scopes: readonly Scope[],
): Caller | undefined {
  const authentication = directory.authenticate(request.headers.authorization, request.ip);
  if (authentication.kind === 'refused') {
    const { kind: _, ...refusal } = authentication;
    directory.noteRefusal({ ...refusal, ...aboutRequest(request) });
    sendError(reply.header('www-authenticate', 'Bearer'), refusal.code);
    return undefined;
  }
  const { caller } = authentication;
  if (scopes.some((each) => caller.scopes.has(each))) return caller;
  const { team, keyId } = caller;
  directory.noteRefusal({ code: 'scope_missing', team, keyId, ...aboutRequest(request) });
  sendError(reply, 'scope_missing', {
    message: `The API key lacks the scope ${scopes.join(' or ')}. Use a key that has it.`,
  });
  return undefined;
}

function aboutRequest({ ip, method, routeOptions, headers }: FastifyRequest) {
  const id = headers['x-request-id'];
  const requestId = typeof id === 'string' && /^[\w.-]{1,64}$/.test(id) ? id : undefined;
  return { address: ip, method, route: routeOptions.url ?? '', ...given({ requestId }) };
}
