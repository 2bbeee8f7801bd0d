/** The first step of every route: identifies the caller and checks the scope. */
import {
  type Authentication,
  type Caller,
  type CallerScope,
  type Reach,
  type TeamDirectory,
  formatGrants,
  mayDo,
  reachOf,
  scopeSchema,
} from '@tollgate/teams';
import { currentRequest, omitUndefined } from '@tollgate/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from './error-answers.ts';
import type { Bound } from './routes.ts';

/** The part of the team directory that routes need. */
export type Access = Pick<TeamDirectory, 'authenticate' | 'catchUp' | 'noteRefusal'>;

/**
 * The caller of a request whose key has one of the scopes, or undefined once the request is refused:
 * 401 `auth_header_not_found`, `incorrect_private_key` or `api_key_expired`, 403 `network_not_allowed` or `scope_missing`,
 * and to a person who operates the gateway 400 `incorrect_team`, 401 `person_token_expired`, `person_token_revoked` or
 * `session_idle`.
 */
export async function authenticate(
  directory: Access,
  request: FastifyRequest,
  reply: FastifyReply,
  route: Protected,
): Promise<Caller | undefined> {
  const authentication = await identify(directory, request);
  if (authentication.kind === 'refused') {
    const { kind: _, ...refusal } = authentication;
    directory.noteRefusal({ ...refusal, ...aboutRequest(request) });
    if (refusal.code !== 'incorrect_team') reply.header('www-authenticate', 'Bearer');
    sendError(
      reply,
      refusal.code,
      omitUndefined({ message: hintFor(refusal.code, request.headers.authorization) }),
    );
    return undefined;
  }
  const { caller } = authentication;
  noteCaller(caller);
  if (isAllowed(caller, route)) return caller;
  refuseScope(directory, { caller, request, reply, message: lackOf(caller, route) });
  return undefined;
}

/** The roles that may call a route. */
interface Protected {
  scopes?: readonly CallerScope[] | undefined;
  bound?: Bound | undefined;
}

/** A person without a team has no scope on a route of teams. */
function isAllowed(caller: Caller, { scopes = [], bound }: Protected): boolean {
  if (bound === undefined) return scopes.some((each) => caller.scopes.has(each));
  if (bound === 'person' && scopes.some((each) => caller.scopes.has(each))) return true;
  const reach = reachOfCaller(caller, scopes);
  return bound === 'installation' ? reach.isEverywhere : reach.isSomewhere;
}

/** A key reaches nothing across teams, and neither does a link, which only signs in. */
export const reachOfCaller = (caller: Caller, scopes: readonly CallerScope[]): Reach =>
  reachOf((caller.scopes.has('self') ? caller.operator?.grants : undefined) ?? [], scopes);

export function refuseScope(
  directory: Pick<Access, 'noteRefusal'>,
  refused: { caller: Caller; request: FastifyRequest; reply: FastifyReply; message: string },
): void {
  const { caller, request, reply, message } = refused;
  const { team, environment, keyId } = caller;
  // A person without a team is in no environment.
  const owner = team === '' ? { team } : { team, environment };
  directory.noteRefusal({ code: 'scope_missing', ...owner, keyId, ...aboutRequest(request) });
  sendError(reply, 'scope_missing', { message });
}

const authentications = new WeakMap<FastifyRequest, Authentication>();

/** The owner of a request's header; cached per request. */
export function authenticationOf(
  directory: Pick<Access, 'authenticate'>,
  request: FastifyRequest,
): Authentication {
  const known = authentications.get(request);
  if (known !== undefined) return known;
  const found = directory.authenticate(request.headers.authorization, request.ip, onBehalfIn(request));
  authentications.set(request, found);
  return found;
}

/** A key or token that opens nothing may have been issued a moment ago, by another process. */
async function identify(directory: Access, request: FastifyRequest): Promise<Authentication> {
  const found = authenticationOf(directory, request);
  const isUnknown =
    found.kind === 'refused' &&
    (found.code === 'incorrect_private_key' || found.code === 'person_token_revoked');
  if (!isUnknown || found.keyId === undefined) return found;
  await directory.catchUp();
  authentications.delete(request);
  return authenticationOf(directory, request);
}

/** As `authenticate`, of a request that has waited: its key may have been revoked meanwhile. */
export function authenticateAgain(...given: Parameters<typeof authenticate>): Promise<Caller | undefined> {
  authentications.delete(given[1]);
  return authenticate(...given);
}

/** A caller that omits the scheme looks for the fault in the key. */
const hintFor = (code: string, authorization: string | undefined): string | undefined =>
  code === 'incorrect_private_key' && !/^bearer +\S/i.test(authorization ?? '')
    ? 'The Authorization header does not begin with Bearer. Send Authorization: Bearer <API key>.'
    : undefined;

function lackOf({ operator, team }: Caller, { scopes = [], bound }: Protected): string {
  if (operator === undefined) {
    const ofKeys = scopes.filter((scope) => scopeSchema.safeParse(scope).success);
    return ofKeys.length === 0
      ? 'Only operators may call this route. Sign in as a person with a role.'
      : `The API key lacks the scope ${ofKeys.join(' or ')}. Use a key that has it.`;
  }
  const needed = scopes.join(' or ');
  const { grants } = operator;
  const lack = `Your role, ${formatGrants(grants)}, lacks the scope ${needed}`;
  const hasItSomewhere = scopes.some((scope) => mayDo(grants, scope, {}));
  if (!hasItSomewhere) return `${lack}.`;
  // A team helps only a person whose role applies within one.
  if (bound === undefined && team === '')
    return `${lack} without a team: name one in Tollgate-Team and Tollgate-Environment.`;
  return bound === 'installation' ? `${lack} in all teams and environments.` : `${lack} here.`;
}

/** The team for which an operator calls. */
export function onBehalfIn({ headers }: Pick<FastifyRequest, 'headers'>) {
  const [team, environment] = [headers['tollgate-team'], headers['tollgate-environment']].map((value) =>
    typeof value === 'string' ? value : undefined,
  );
  return { team, environment };
}

/** The caller of the current request, for the log and the record of the request. */
export function noteCaller({ environment, team, keyId, operator }: Caller): void {
  const request = currentRequest();
  // Operators' actions are in the security log, and are not requests of the team.
  const owner = operator === undefined ? { environment, team } : { environment: '', team: '' };
  if (request !== undefined) request.caller = { ...owner, keyId };
}

const aboutRequest = ({ ip, method, routeOptions, id }: FastifyRequest) => ({
  address: ip,
  method,
  route: routeOptions.url ?? '',
  requestId: id,
});
