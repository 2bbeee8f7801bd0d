/**
 * The servers of a process: the API, or the part that its services answer; the callback URLs of the Payment Service;
 * and metrics with health, for monitoring.
 */
import {
  type CallbackIngesterDependencies,
  callbackBodyBytesMax,
  registerCallbackRoutes,
} from '@tollgate/callback-ingester';
import type { TeamDirectory } from '@tollgate/teams';
import type { RequestRecord } from '@tollgate/requests';
import { type Log, type UnderWay, createRequestIds, createUnderWay } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { createOwnPositions, rememberOwnPositions } from './front-door/own-positions.ts';
import type { GatewayConfig } from '../configuration/config.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { watchCertificate } from './certificate-watch.ts';
import { createServer, listenAt } from './http-server.ts';
import { type Readiness, registerHealthRoutes } from './health-routes.ts';
import { countCallbacks, measureRequests, registerMetricsRoute } from './metrics/http-metrics.ts';
import { type InternalCredential, requireInternalCredential } from './internal-credential.ts';
import type { Metrics } from './metrics/metrics.ts';
import { reportToFrontDoor } from './requests/trace-requests.ts';
import { limitExpensiveReads } from './limit-expensive-reads.ts';
import { type SessionOf, limitRequests } from './request-limit.ts';
import type { RunningService } from './running-service.ts';
import { readTlsFiles, refusePlainHttp } from '../configuration/tls.ts';

/** Where the servers listen, and the variables that set it. */
export const addressesOf = ({ host, gatewayPort, callbackPort, plainHttpPort, metrics }: GatewayConfig) => ({
  api: { host, port: gatewayPort, variable: 'GATEWAY_PORT' },
  callbacks: { host, port: callbackPort, variable: 'CALLBACK_PORT' },
  metrics: { ...metrics, variable: 'GATEWAY_METRICS_PORT', hostVariable: 'GATEWAY_METRICS_HOST' },
  plainHttp: { host, port: plainHttpPort ?? 0, variable: 'GATEWAY_PLAIN_HTTP_PORT' },
});

/** A body of the API, bytes. */
const apiBodyBytesMax = 64 * 1024;

/** @returns the server's URL */
export async function startCallbackServer(
  { config, clock, ids, logOf }: GatewayDependencies,
  { metrics, ...parts }: Pick<CallbackIngesterDependencies, 'bus' | 'secrets'> & { metrics: Metrics },
  stops: AsyncDisposableStack,
): Promise<string> {
  const log = logOf('callback-ingester');
  const { connections } = config;
  const newRequestId = createRequestIds({ clock, ids });
  const app = createServer({ connections, bodyLimitBytes: callbackBodyBytesMax, newRequestId, log });
  countCallbacks(app, metrics);
  registerCallbackRoutes(app, { ...parts, lifetimeMs: config.callbackLifetimeMs, clock, log });
  stops.defer(() => app.close());
  return listenAt(app, addressesOf(config).callbacks, log);
}

export interface ApiParts extends Readiness {
  services: readonly Pick<RunningService, 'registerRoutes'>[];
  /** Routes for our other services; none by default. */
  internal?: readonly Pick<RunningService, 'registerInternalRoutes'>[];
  /** Adds the internal routes of a process with a public API server to its metrics server. */
  registerInternal?: ((scope: FastifyInstance) => void) | undefined;
  /** Credential check for the callers of a process behind a front door. */
  internalCredential?: Pick<InternalCredential, 'isValid'>;
  /** True if teams call this process directly, and not a front door in front of it. */
  isFront?: boolean;
  /** Receives the record of each request; default: none. */
  noteRequest?: (record: RequestRecord) => void;
  /** Identifies the keys that requests are counted by; without it, none are. */
  directory?: Pick<TeamDirectory, 'authenticate'>;
  /** Identifies the sessions of the console, if there is one. */
  sessionOf?: SessionOf;
  /** Counts the requests that long reads of this process yield to. */
  underWay?: UnderWay;
  metrics: Metrics;
}

type ApiDependencies = Pick<GatewayDependencies, 'config' | 'clock' | 'ids' | 'logOf'>;

/** @returns the server's URL */
export async function startApiServer(
  deps: ApiDependencies,
  parts: ApiParts,
  stops: AsyncDisposableStack,
): Promise<string> {
  const { tlsFiles, connections, trustedProxies, plainHttpPort } = deps.config;
  const log = deps.logOf('api');
  const https = tlsFiles === undefined ? undefined : readTlsFiles(tlsFiles);
  const app = createServer({
    connections,
    bodyLimitBytes: apiBodyBytesMax,
    https,
    trustedProxies,
    log,
    newRequestId: createRequestIds(deps),
    noteRequest: parts.noteRequest,
  });
  if (https !== undefined) watchCertificate({ clock: deps.clock, log, metrics: parts.metrics }, https.cert);
  await registerApi(app, deps, parts);
  stops.defer(() => app.close());
  const url = await listenAt(app, addressesOf(deps.config).api, log, https === undefined ? 'http' : 'https');
  if (https !== undefined && plainHttpPort !== undefined) await startRefusingServer(deps, log, stops);
  return url;
}

/** Requests of monitoring have no body. */
const metricsBodyBytesMax = 1_024;

/** @returns the server's URL */
export async function startMetricsServer(
  { config, clock, ids, logOf }: ApiDependencies,
  { metrics, registerInternal, ...readiness }: Readiness & Pick<ApiParts, 'metrics' | 'registerInternal'>,
  stops: AsyncDisposableStack,
): Promise<string> {
  const log = logOf('metrics');
  const app = createServer({
    connections: config.connections,
    bodyLimitBytes: metricsBodyBytesMax,
    log,
    newRequestId: createRequestIds({ clock, ids }),
  });
  registerHealthRoutes(app, readiness);
  registerMetricsRoute(app, metrics);
  if (registerInternal !== undefined) await app.register(async (scope) => registerInternal(scope));
  stops.defer(() => app.close());
  return listenAt(app, addressesOf(config).metrics, log);
}

/** Everything that the API server answers. */
export async function registerApi(
  app: FastifyInstance,
  { config, clock }: Pick<ApiDependencies, 'config' | 'clock'>,
  {
    services,
    internal = [],
    internalCredential,
    isFront = false,
    directory,
    sessionOf,
    underWay = createUnderWay(),
    metrics,
    ...readiness
  }: ApiParts,
): Promise<void> {
  measureRequests(app, metrics);
  registerHealthRoutes(app, readiness);
  // Health is apart: probes count against no limit and need no credential.
  await app.register(async (api) => {
    if (internalCredential !== undefined) {
      requireInternalCredential(api, internalCredential);
      reportToFrontDoor(api);
    }
    for (const service of internal) service.registerInternalRoutes?.(api);
    const { requestsPerSecondMax } = config;
    if (isFront) rememberOwnPositions(api, createOwnPositions(clock));
    if (directory !== undefined) {
      await limitRequests(api, { directory, sessionOf, clock, requestsPerSecondMax });
      limitExpensiveReads(api, directory, underWay);
    }
    for (const service of services) await service.registerRoutes?.(api);
  });
}

/** In addition to an HTTPS API: answers callers that used http. */
async function startRefusingServer(
  { config, ...deps }: ApiDependencies,
  log: Log,
  stops: AsyncDisposableStack,
): Promise<void> {
  const newRequestId = createRequestIds(deps);
  const app = createServer({ connections: config.connections, bodyLimitBytes: 1, newRequestId, log });
  refusePlainHttp(app);
  stops.defer(() => app.close());
  await listenAt(app, addressesOf(config).plainHttp, log);
}
