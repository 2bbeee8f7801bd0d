import type { IndexBuilding } from '@tollgate/lists';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';

export interface Readiness {
  /** Parts that are not ready; empty when everything is. */
  notReady(): readonly string[] | Promise<readonly string[]>;
  /** Failures that do not affect readiness, such as an unavailable broker. */
  degraded(): readonly string[] | Promise<readonly string[]>;
  /** Progress of the index for lists; undefined once it is complete, or if there is none. */
  building?(): IndexBuilding | undefined;
}

/**
 * `/healthz`: the process answers. `/readyz`: its services can serve; 503 lists missing parts, `degraded` optional
 * ones, and `index` the progress of the lists.
 */
export function registerHealthRoutes(
  app: FastifyInstance,
  { notReady, degraded, building }: Readiness,
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const [others, doneWithout] = await Promise.all([notReady(), degraded()]);
    const index = building?.();
    const missing = index === undefined ? others : [...others, 'index'];
    return reply.code(missing.length === 0 ? 200 : 503).send({
      ready: missing.length === 0,
      notReady: missing,
      degraded: doneWithout,
      ...omitUndefined({ index }),
    });
  });
}
