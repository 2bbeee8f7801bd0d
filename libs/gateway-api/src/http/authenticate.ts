/** The first step of every route: whose request is this, and does the key have the scope? */
import { type Caller, type Scope, type TeamDirectory } from '@tollgate/teams';
import { currentRequest } from '@tollgate/service-kit';
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
  noteCaller(caller);
  if (scopes.some((each) => caller.scopes.has(each))) return caller;
  const { team, keyId } = caller;
  directory.noteRefusal({ code: 'scope_missing', team, keyId, ...aboutRequest(request) });
  sendError(reply, 'scope_missing', {
    message: `The API key lacks the scope ${scopes.join(' or ')}. Use a key that has it.`,
  });
  return undefined;
}

/** Whose request the current one is, for the log and for the record of the request. */
export function noteCaller({ environment, team, keyId }: Caller): void {
  const request = currentRequest();
  if (request !== undefined) request.caller = { environment, team, keyId };
}

const aboutRequest = ({ ip, method, routeOptions, id }: FastifyRequest) => ({
  ...{ address: ip, method, route: routeOptions.url ?? '', requestId: id },
});
