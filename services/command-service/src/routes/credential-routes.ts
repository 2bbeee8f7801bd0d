/** Begins sessions of people, and revokes their credentials. */
import { routes, sendError, toPublicCredential } from '@tollgate/gateway-api/http';
import type { EventStore } from '@tollgate/event-store';
import { type Clock, type Ids, InvariantViolation } from '@tollgate/service-kit';
import {
  type Caller,
  type OperatorClaims,
  type OperatorCredentials,
  createCredentialRegister,
} from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type RouteKit, addBodyRoute, addCommandRoute } from './route-kit.ts';

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

  addBodyRoute(app, deps, routes.revokeOwnCredentials, ({ caller, body, reply }) =>
    revoke(reply, credentialOf(caller).person, body.credentialId),
  );

  addBodyRoute(app, deps, routes.revokeCredentials, async ({ body, reply }) => {
    const { credentialId: id, person } = body;
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
