/** The additions of a running service to the HTTP server of its process. */
import type { FailedStream } from '@tollgate/event-store';
import type { IndexBuilding } from '@tollgate/lists';
import type { RequestRecord } from '@tollgate/requests';
import type { FastifyInstance } from 'fastify';

export interface RunningService {
  /** Adds its API routes. */
  registerRoutes?(app: FastifyInstance): void | Promise<void>;
  /** Adds its routes for our other services. Teams cannot reach them: the front door forwards only the API. */
  registerInternalRoutes?(app: FastifyInstance): void;
  /** Receives the records of the requests that teams sent to this process. */
  noteRequest?(record: RequestRecord): void;
  /** Parts that are not ready; default: none. */
  notReady?(): readonly string[] | Promise<readonly string[]>;
  /** Failures that do not affect readiness. */
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
