import type { IndexBuilding } from '@tollgate/lists';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';

export interface Readiness {
  /** Names what is not ready; empty when everything is. */
  notReady(): readonly string[] | Promise<readonly string[]>;
  /** Names what does not work without affecting readiness, such as an unavailable broker. */
  degraded(): readonly string[] | Promise<readonly string[]>;
  /** How far the index is that lists are answered from; undefined once it is whole, and where there is none. */
  building?(): IndexBuilding | undefined;
}

/**
 * `/healthz`: the process answers. `/readyz`: its services can serve; 503 names what is missing, `degraded` what can be
 * done without, and `index` shows how far the lists are.
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
