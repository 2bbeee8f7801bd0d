/**
 * Read-your-writes for a team, and mostly monotonic reads, without `Tollgate-Min-Position`. Reads lag behind writes by some
 * milliseconds, differently per query service. The front door remembers the positions that each key has written and read,
 * and the query service waits for them, briefly. In memory of this process only: best effort, not a promise.
 */
import { hash } from 'node:crypto';
import type { Clock } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';

/** The read model reaches it by then, unless it is stuck. @unit milliseconds */
const rememberedMs = 5_000;

/**
 * For the public server, before its routes are registered: passes the position to the query service in a header. A header
 * of this name from a caller is dropped.
 */
export function rememberOwnPositions(
  app: FastifyInstance,
  ownPositions: ReturnType<typeof createOwnPositions>,
): void {
  app.addHook('onRequest', async ({ headers }) => {
    const position = ownPositions.positionOf(headers.authorization);
    if (position === undefined) delete headers['tollgate-own-position'];
    else headers['tollgate-own-position'] = position;
  });
  app.addHook('onSend', async ({ headers }, reply) => {
    ownPositions.note(headers.authorization, reply.getHeader('tollgate-position'));
  });
}

export function createOwnPositions(clock: Pick<Clock, 'monotonic'>, keysMax = 10_000) {
  const reached = new LRUCache<string, { position: string; at: number }>({ max: keysMax });
  const positionUnder = (key: string): string | undefined => {
    const known = reached.peek(key);
    return known !== undefined && clock.monotonic() - known.at < rememberedMs ? known.position : undefined;
  };
  return {
    /** The key of this header has had an answer at this position. */
    note(authorization: string | undefined, position: unknown): void {
      if (authorization === undefined || typeof position !== 'string') return;
      const key = fingerprintOf(authorization);
      const known = positionUnder(key);
      // Answers may arrive in another order than the writes. A repeated one is remembered again once it was dropped.
      if (known === undefined || known < position) reached.set(key, { position, at: clock.monotonic() });
    },
    /** The latest of these, while it may matter. */
    positionOf: (authorization: string | undefined) =>
      authorization === undefined ? undefined : positionUnder(fingerprintOf(authorization)),
  };
}

/** Keys themselves are kept nowhere. */
const fingerprintOf = (authorization: string): string => hash('sha256', authorization, 'base64');
