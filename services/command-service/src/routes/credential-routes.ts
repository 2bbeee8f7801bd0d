/** Begins sessions of people, and revokes their credentials. */
import { credentialBodySchemas, routes, sendError, toPublicCredential } from '@tollgate/gateway-api/http';
import type { EventStore } from '@tollgate/event-store';
import { type Clock, type Ids, InvariantViolation, sendErrors } from '@tollgate/service-kit';
import {
  type Caller,
  type OperatorClaims,
  type OperatorCredentials,
  createCredentialRegister,
} from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseBody } from './parsed.ts';
import { type RouteKit, addCommandRoute } from './route-kit.ts';

export interface CredentialRouteDependencies extends RouteKit {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  operators: OperatorCredentials;
}

export function registerCredentialRoutes(app: FastifyInstance, deps: CredentialRouteDependencies): void {
  const { directory, operators } = deps;
  const register = createCredentialRegister({ ...deps, credentials: operators });

  /** @param id all of the person without one */
  async function revoke(
    reply: FastifyReply,
    person: string | undefined,
    id: string | undefined,
  ): Promise<FastifyReply> {
    const revoked = person === undefined ? [] : await register.revoke(person, id);
    if (id !== undefined && revoked.length === 0) return sendError(reply, 'credential_not_found');
    await directory.catchUp();
    return reply.send({ success: true, revoked: revoked.map(toPublicCredential) });
  }

  addCommandRoute(app, deps, routes.signIn, async ({ caller, request, reply }) => {
    const session = await register.signIn(credentialOf(caller), request.ip);
    if (session === undefined) return sendError(reply, 'sign_in_link_used');
    await directory.catchUp();
    return reply
      .header('cache-control', 'no-store')
      .send({ success: true, session: operators.seal(session) });
  });

  addCommandRoute(app, deps, routes.revokeOwnCredentials, async ({ caller, request, reply }) => {
    const parsed = parseBody(
      credentialBodySchemas.OwnCredentialRevocation,
      request.body === undefined ? {} : request.body,
    );
    if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
    return revoke(reply, credentialOf(caller).person, parsed.value.credentialId);
  });

  addCommandRoute(app, deps, routes.revokeCredentials, async ({ request, reply }) => {
    const parsed = parseBody(credentialBodySchemas.CredentialRevocation, request.body);
    if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
    const { credentialId: id, person } = parsed.value;
    if (id === undefined) return revoke(reply, person, undefined);
    await directory.catchUp();
    const known = directory.credentialsOfPeople().find((each) => each.id === id);
    return revoke(reply, known?.person, id);
  });
}

/** No key of a team has the scopes of these routes. */
function credentialOf({ credential }: Caller): OperatorClaims {
  if (credential !== undefined) return credential;
  throw new InvariantViolation('a team has called a route of people');
}
