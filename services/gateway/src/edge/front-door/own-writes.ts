/**
 * Lets a team read what it wrote a moment ago, also where it does not send `Tollgate-Min-Position`: what is read follows
 * what was written some milliseconds later. Where teams come in, it is remembered how far each key has written, and the
 * query service waits for that, though not for long. Kept in this process only, so it is a courtesy and no promise.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';

/** What the read model has reached by then anyway, unless it stands still, milliseconds. */
const rememberedMs = 5_000;

/**
 * Of the server that teams come in at, before its routes are registered: tells the query service beside a request. What a
 * team itself says under this name is not heard.
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
  // In order of time: the oldest is the first.
  const written = new Map<string, { position: string; at: number }>();

  function forget(now: number): void {
    for (const [key, { at }] of written) {
      if (written.size <= keysMax && now - at < rememberedMs) return;
      written.delete(key);
    }
  }

  return {
    note(authorization, position) {
      if (authorization === undefined || typeof position !== 'string') return;
      const key = fingerprintOf(authorization);
      const at = clock.monotonic();
      const known = written.get(key)?.position;
      written.delete(key);
      // Answers may come in another order than what was written: the later position holds for both.
      written.set(key, { position: known !== undefined && known > position ? known : position, at });
      forget(at);
    },
    positionOf(authorization) {
      if (authorization === undefined) return undefined;
      forget(clock.monotonic());
      return written.get(fingerprintOf(authorization))?.position;
    },
  };
}

/** Keys themselves are kept nowhere. */
const fingerprintOf = (authorization: string): string =>
  createHash('sha256').update(authorization).digest('base64');
