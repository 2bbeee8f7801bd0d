/** The two servers of the gateway: the API for teams, and the addresses that the Payment Service calls back. */
import {
  type CallbackIngesterDependencies,
  callbackBodyBytesMax,
  registerCallbackRoutes,
} from '@tollgate/callback-ingester';
import { answerInJsonOnly, endConnectionsOnClose, httpServerOptions, listen } from '@tollgate/service-kit';
import Fastify, { type FastifyInstance } from 'fastify';
import type { GatewayDependencies, OnStop } from './gateway.ts';
import { registerHealthRoutes } from './health-routes.ts';

/** A body of the API, bytes. */
const apiBodyBytesMax = 64 * 1024;

/** @returns the server's URL */
export async function startCallbackServer(
  { config, clock, logOf }: GatewayDependencies,
  parts: Pick<CallbackIngesterDependencies, 'bus' | 'secrets'>,
  onStop: OnStop,
): Promise<string> {
  const log = logOf('callback-ingester');
  const app = Fastify(httpServerOptions({ bodyLimitBytes: callbackBodyBytesMax }));
  answerInJsonOnly(app, log);
  endConnectionsOnClose(app);
  registerCallbackRoutes(app, { ...parts, clock, log });
  onStop(() => app.close());
  const port = await listen(app, { host: config.host, port: config.callbackPort, variable: 'CALLBACK_PORT' });
  return toUrl(config.host, port);
}

export interface ApiParts {
  services: readonly { registerRoutes(app: FastifyInstance): void }[];
  /** Names what is not ready to take payments. */
  notReady: () => readonly string[];
}

/** @returns the server's URL */
export async function startApiServer(
  { config, logOf }: GatewayDependencies,
  { services, notReady }: ApiParts,
  onStop: OnStop,
): Promise<string> {
  const app = Fastify(httpServerOptions({ bodyLimitBytes: apiBodyBytesMax }));
  answerInJsonOnly(app, logOf('api'));
  endConnectionsOnClose(app);
  registerHealthRoutes(app, { notReady });
  for (const service of services) service.registerRoutes(app);
  onStop(() => app.close());
  const port = await listen(app, { host: config.host, port: config.gatewayPort, variable: 'GATEWAY_PORT' });
  return toUrl(config.host, port);
}

const toUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
