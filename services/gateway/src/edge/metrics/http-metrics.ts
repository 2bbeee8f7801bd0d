/** Measures the servers, and serves the metrics. */
import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';

/** Measures every request to routes that are registered after this, and those to no route. */
export function measureRequests(app: FastifyInstance, metrics: Pick<Metrics, 'request'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url } = request.routeOptions;
    // A path or method made up by a caller is not a label.
    const [method, route] = url === undefined ? ['none', 'none'] : [request.method, url];
    const status = `${Math.floor(reply.statusCode / 100)}xx`;
    metrics.request({ method, route, status }, reply.elapsedTime);
    done();
  });
}

/** Counts every request to the callback server. */
export function countCallbacks(app: FastifyInstance, metrics: Pick<Metrics, 'callback'>): void {
  app.addHook('onResponse', (_request, reply, done) => {
    metrics.callback(reply.statusCode);
    done();
  });
}

/** Without a key: it contains nothing private. */
export function registerMetricsRoute(
  app: FastifyInstance,
  metrics: Pick<Metrics, 'text' | 'contentType'>,
): void {
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}
