import type { FastifyInstance } from 'fastify';

export interface Readiness {
  /** Names what is not ready; empty when everything is. */
  notReady(): readonly string[] | Promise<readonly string[]>;
  /** Names what does not work now and keeps nobody from being served, such as a broker that is away. */
  degraded(): readonly string[] | Promise<readonly string[]>;
}

/** `/healthz`: the process answers. `/readyz`: its services can serve; 503 names what is missing, `degraded` what can be done without. */
export function registerHealthRoutes(app: FastifyInstance, { notReady, degraded }: Readiness): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const [missing, doneWithout] = await Promise.all([notReady(), degraded()]);
    return reply
      .code(missing.length === 0 ? 200 : 503)
      .send({ ready: missing.length === 0, notReady: missing, degraded: doneWithout });
  });
}
