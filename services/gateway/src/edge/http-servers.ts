/** The two servers of a process: the API, or what of it its services answer; and the addresses that the Payment Service calls back. */
import {
  type CallbackIngesterDependencies,
  callbackBodyBytesMax,
  registerCallbackRoutes,
} from '@tollgate/callback-ingester';
import type { TeamDirectory } from '@tollgate/teams';
import {
  type Log,
  answerInJsonOnly,
  endConnectionsOnClose,
  httpServerOptions,
  listen,
} from '@tollgate/service-kit';
import Fastify, { type FastifyInstance } from 'fastify';
import { createOwnWrites, rememberOwnWrites } from './front-door/own-writes.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { type Readiness, registerHealthRoutes } from './health-routes.ts';
import { countCallbacks, measureRequests, registerMetricsRoute } from './metrics/http-metrics.ts';
import type { Metrics } from './metrics/metrics.ts';
import { limitRequests } from './request-limit.ts';
import type { RunningService } from './running-service.ts';
import { type TlsMaterial, readTlsFiles, refusePlainHttp } from '../configuration/tls.ts';

/** A body of the API, bytes. */
const apiBodyBytesMax = 64 * 1024;

/** @returns the server's URL */
export async function startCallbackServer(
  { config, clock, logOf }: GatewayDependencies,
  { metrics, ...parts }: Pick<CallbackIngesterDependencies, 'bus' | 'secrets'> & { metrics: Metrics },
  stops: AsyncDisposableStack,
): Promise<string> {
  const log = logOf('callback-ingester');
  const app = Fastify(httpServerOptions({ bodyLimitBytes: callbackBodyBytesMax }));
  answerInJsonOnly(app, log);
  endConnectionsOnClose(app);
  countCallbacks(app, metrics);
  registerCallbackRoutes(app, { ...parts, clock, log });
  stops.defer(() => app.close());
  const port = await listen(app, { host: config.host, port: config.callbackPort, variable: 'CALLBACK_PORT' });
  return toUrl(config.host, port);
}

export interface ApiParts extends Readiness {
  services: readonly Pick<RunningService, 'registerRoutes'>[];
  /** Whose routes for other services of ours are served, too; none where it is left out. */
  internal?: readonly Pick<RunningService, 'registerInternalRoutes'>[];
  /** Whether teams come in here, and not by a front door before it. */
  isFront?: boolean;
  /** Tells the keys apart that requests are counted by; without it, none are. */
  directory?: Pick<TeamDirectory, 'authenticate'>;
  metrics: Metrics;
}

type ApiDependencies = Pick<GatewayDependencies, 'config' | 'clock' | 'logOf'>;

/** @returns the server's URL */
export async function startApiServer(
  deps: ApiDependencies,
  parts: ApiParts,
  stops: AsyncDisposableStack,
): Promise<string> {
  const { config, logOf } = deps;
  const https = config.tlsFiles === undefined ? null : readTlsFiles(config.tlsFiles);
  const app = createApiServer(config.trustedProxies, https);
  await registerApi(app, deps, parts);
  stops.defer(() => app.close());
  const port = await listen(app, { host: config.host, port: config.gatewayPort, variable: 'GATEWAY_PORT' });
  if (https !== null && config.plainHttpPort !== undefined)
    await startRefusingServer(config, logOf('api'), stops);
  return toUrl(config.host, port, https === null ? 'http' : 'https');
}

/** Everything that the API server answers. */
export async function registerApi(
  app: FastifyInstance,
  { config, clock, logOf }: ApiDependencies,
  { services, internal = [], isFront = false, directory, metrics, ...readiness }: ApiParts,
): Promise<void> {
  answerInJsonOnly(app, logOf('api'));
  endConnectionsOnClose(app);
  measureRequests(app, metrics);
  registerHealthRoutes(app, readiness);
  registerMetricsRoute(app, metrics);
  for (const service of internal) service.registerInternalRoutes?.(app);
  // Apart, so that whoever watches over the process is not counted among those who use it.
  await app.register(async (api) => {
    const { requestsPerSecondMax } = config;
    if (isFront) rememberOwnWrites(api, createOwnWrites(clock));
    if (directory !== undefined) await limitRequests(api, { directory, clock, requestsPerSecondMax });
    for (const service of services) await service.registerRoutes?.(api);
  });
}

/** Like the other limits of a connection: a client that begins and does not go on is let go. */
const handshakeTimeoutMs = 5_000;

/** @param trustedProxies whose word on where a request comes from is taken */
function createApiServer(
  trustedProxies: readonly string[] | undefined,
  https: TlsMaterial | null,
): FastifyInstance {
  const trustProxy = trustedProxies === undefined ? false : [...trustedProxies];
  const options = { ...httpServerOptions({ bodyLimitBytes: apiBodyBytesMax }), trustProxy };
  if (https === null) return Fastify(options);
  // The limits of plain connections are those of the server that HTTPS is made of, too.
  const { http, ...others } = options;
  return Fastify({ ...others, https: { ...http, handshakeTimeout: handshakeTimeoutMs, ...https } });
}

/** Beside an API that speaks HTTPS: tells those who forgot the s. */
async function startRefusingServer(
  { host, plainHttpPort = 0 }: GatewayDependencies['config'],
  log: Log,
  stops: AsyncDisposableStack,
): Promise<void> {
  const app = Fastify(httpServerOptions({ bodyLimitBytes: 1 }));
  answerInJsonOnly(app, log);
  endConnectionsOnClose(app);
  refusePlainHttp(app);
  stops.defer(() => app.close());
  await listen(app, { host, port: plainHttpPort, variable: 'GATEWAY_PLAIN_HTTP_PORT' });
}

export const toUrl = (host: string, port: number, scheme = 'http'): string =>
  `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
