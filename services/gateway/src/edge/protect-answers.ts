/** Security headers of every answer: no type sniffing, no caching, and HSTS. */
import type { FastifyInstance } from 'fastify';

const yearSeconds = 31_536_000;

/** A route that may be cached sets its own `Cache-Control`. */
export const protectiveHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

export function protectAnswers(app: FastifyInstance, { isHttps }: { isHttps: boolean }): void {
  app.addHook('onRequest', (_request, reply, done) => {
    // On the raw answer, so that answers that bypass Fastify's reply carry them as well.
    for (const [name, value] of Object.entries(protectiveHeaders)) reply.raw.setHeader(name, value);
    if (isHttps) reply.raw.setHeader('Strict-Transport-Security', `max-age=${yearSeconds}`);
    done();
  });
}
