/**
 * Lets a team read what it wrote a moment ago, also where it does not send `Tollgate-Min-Position`: what is read follows
 * what was written some milliseconds later. Where teams come in, it is remembered how far each key has written, and the
 * query service waits for that, though not for long. Kept in this process only, so it is a courtesy and no promise.
 */
import { hash } from 'node:crypto';
import type { Clock } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';

/** What the read model has reached by then anyway, unless it stands still, milliseconds. */
const rememberedMs = 5_000;

/**
 * For the public server, before its routes are registered: passes the position to the query service in a header. A header
 * of this name from a caller is dropped.
 */
export function rememberOwnWrites(app: FastifyInstance, ownWrites: OwnWrites): void {
  app.addHook('onRequest', async ({ headers }) => {
    const position = ownWrites.positionOf(headers.authorization);
    if (position === undefined) delete headers['tollgate-own-position'];
    else headers['tollgate-own-position'] = position;
  });
  app.addHook('onSend', async ({ headers }, reply) => {
    ownWrites.note(headers.authorization, reply.getHeader('tollgate-position'));
  });
}

export interface OwnWrites {
  /** The key of this header has had an answer at this position. */
  note(authorization: string | undefined, position: unknown): void;
  /** The latest of these, while it may matter. */
  positionOf(authorization: string | undefined): string | undefined;
}

export function createOwnWrites(clock: Pick<Clock, 'monotonic'>, keysMax = 10_000): OwnWrites {
  const written = new LRUCache<string, { position: string; at: number }>({ max: keysMax });
  return {
    note(authorization, position) {
      if (authorization === undefined || typeof position !== 'string') return;
      const key = fingerprintOf(authorization);
      const known = written.peek(key)?.position;
      // Answers may come in another order than what was written: the later position holds for both.
      const later = known !== undefined && known > position ? known : position;
      written.set(key, { position: later, at: clock.monotonic() });
    },
    positionOf(authorization) {
      const known = authorization === undefined ? undefined : written.peek(fingerprintOf(authorization));
      return known !== undefined && clock.monotonic() - known.at < rememberedMs ? known.position : undefined;
    },
  };
}

/** Keys themselves are kept nowhere. */
const fingerprintOf = (authorization: string): string => hash('sha256', authorization, 'base64');
