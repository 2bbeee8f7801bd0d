/**
 * Several gateways that each run all services share their records of requests. Each accepts those of the others on its
 * metrics server, because its API server is public.
 */
import { hostname } from 'node:os';
import type { Member } from '@tollgate/event-store';
import type { RequestRecord } from '@tollgate/requests';
import { isLoopbackAddress } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { serviceNames } from '../configuration/service-names.ts';
import { requireInternalCredential } from '../edge/internal-credential.ts';
import { createRequestRecords } from '../edge/requests/request-records.ts';
import type { RunningService } from '../edge/running-service.ts';
import { toHolder } from './lease-holder.ts';
import type { Parts } from './parts.ts';

const isWhole = ({ runs }: Pick<Parts, 'runs'>): boolean => serviceNames.every(runs);

/** Must be called before the API accepts requests. @returns reports a request of this gateway to all others */
export async function reportToOthers(parts: Parts): Promise<(record: RequestRecord) => void> {
  if (!isWhole(parts)) return () => {};
  const { holder, clock, logOf, stops } = parts;
  const members = await parts.members();
  const records = createRequestRecords({
    upstreams: () => otherOrigins(members.living(), holder),
    credential: parts.internalCredential(),
    clock,
    log: logOf('api'),
  });
  stops.defer(() => records.close());
  return records.note;
}

/** For the metrics server; undefined unless this process is a whole gateway. */
export function internalRoutesOf(
  parts: Parts,
  running: readonly RunningService[],
): ((scope: FastifyInstance) => void) | undefined {
  if (!isWhole(parts)) return undefined;
  return (scope) => {
    requireInternalCredential(scope, parts.internalCredential());
    for (const service of running) service.registerInternalRoutes?.(scope);
  };
}

/** @param metricsUrl of this gateway's metrics server */
export async function announceTo(parts: Parts, metricsUrl: string): Promise<void> {
  if (isWhole(parts)) (await parts.members()).announce(reachable(metricsUrl));
}

/** Leaves out a loopback address of another machine or container. */
export function otherOrigins(living: readonly Member[], own: Parts['holder']): string[] {
  return living.flatMap(({ member, internalUrl }) => {
    if (internalUrl === undefined || member === toHolder(own)) return [];
    const host = URL.parse(internalUrl)?.hostname;
    const isReachable = host !== undefined && (member.endsWith(`@${own.host}`) || !isLoopbackAddress(host));
    return isReachable ? [internalUrl] : [];
  });
}

/** A wildcard address names no machine. */
function reachable(url: string): string {
  const { hostname: host, port } = new URL(url);
  return ['0.0.0.0', '[::]'].includes(host) ? `http://${hostname()}:${port}` : url;
}
