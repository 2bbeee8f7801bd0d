/** The additions of a running service to the HTTP server of its process. */
import type { FailedStream } from '@tollgate/event-store';
import type { IndexBuilding } from '@tollgate/lists';
import type { RequestRecord } from '@tollgate/requests';
import type { FastifyInstance } from 'fastify';

export interface RunningService {
  /** Adds what it answers of the API. */
  registerRoutes?(app: FastifyInstance): void | Promise<void>;
  /** Adds what other services of ours may ask of it. No team can reach it: the front door hands on the API only. */
  registerInternalRoutes?(app: FastifyInstance): void;
  /** Takes in what became of each request that teams sent to this process. */
  noteRequest?(record: RequestRecord): void;
  /** Names what is not ready to serve; nothing if it is left out. */
  notReady?(): readonly string[] | Promise<readonly string[]>;
  /** Names what does not work without affecting readiness. */
  degraded?(): readonly string[] | Promise<readonly string[]>;
  /** How far the index is that it answers from; undefined once it is whole. */
  building?(): IndexBuilding | undefined;
}

const namedMax = 3;

/** Streams that a service has quarantined: the first ones by name, with the event that it cannot read. */
export function setAside(service: string, failed: readonly FailedStream[]): readonly string[] {
  if (failed.length === 0) return [];
  const named = failed
    .slice(0, namedMax)
    .map(({ stream, revision, code }) => `${service}: event ${revision} of ${stream}: ${code}`);
  const others = failed.length - named.length;
  return [service, ...named, ...(others > 0 ? [`${service}: ${others} other streams`] : [])];
}

/** An unavailable broker: payments work without it, and callbacks are answered 503 to be sent again. */
export const degradedWithout = (bus: { isConnected(): boolean }) => (): readonly string[] =>
  bus.isConnected() ? [] : ['message-bus'];
