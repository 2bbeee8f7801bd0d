/**
 * Lets a team read what it wrote a moment ago, also where it does not send `Tollgate-Min-Position`: between processes,
 * what is read follows what was written some milliseconds later. The front door remembers how far each key has written,
 * and the query service waits for that, though not for long. Kept in this process only, so it is a courtesy and no promise.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '@tollgate/service-kit';

/** What the read model has reached by then anyway, unless it stands still, milliseconds. */
const rememberedMs = 5_000;

/** Taken by the query service from the front door only. */
export const ownPositionHeader = 'tollgate-own-position';

export interface OwnWrites {
  /** The key of this header has had an answer at this position. */
  note(authorization: string | undefined, position: unknown): void;
  /** The last of these, while it may matter. */
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
      written.delete(key);
      written.set(key, { position, at });
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
