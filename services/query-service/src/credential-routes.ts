/** The tokens and sessions of people. */
import { routes, toPublicCredential, addReadRoute } from '@tollgate/gateway-api/http';
import { InvariantViolation } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { type ReadDependencies } from './reading.ts';

const listedMax = 1_000;

export function registerCredentialRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { directory } = deps;

  addReadRoute(app, deps, routes.showMe, async ({ caller: { credential }, reply }) => {
    if (credential === undefined) throw new InvariantViolation('a team has called a route of people');
    const { person, id } = credential;
    const own = directory.credentialsOfPeople().filter((each) => each.person === person);
    return reply.send({ success: true, person, credential: id, credentials: own.map(toPublicCredential) });
  });

  addReadRoute(app, deps, routes.listCredentials, async ({ query: { person }, reply }) => {
    const all = directory
      .credentialsOfPeople()
      .filter((each) => person === undefined || each.person === person);
    const credentials = all.slice(0, listedMax).map(toPublicCredential);
    return reply.send({ success: true, credentials, count: all.length });
  });
}
