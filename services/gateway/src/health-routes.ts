import type { FastifyInstance } from 'fastify';

export interface Readiness {
  /** Names what is not ready; empty when everything is. */
  notReady(): readonly string[];
}

/** `/healthz`: the process answers. `/readyz`: it can take payments; 503 names what is missing. */
export function registerHealthRoutes(app: FastifyInstance, { notReady }: Readiness): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const missing = notReady();
    return reply
      .code(missing.length === 0 ? 200 : 503)
      .send({ ready: missing.length === 0, notReady: missing });
  });
}
