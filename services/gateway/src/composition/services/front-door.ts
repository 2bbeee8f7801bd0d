import { StartupError } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { Agent } from 'undici';
import { registerForwarding } from '../../edge/front-door/forward.ts';
import { routesOf } from '@tollgate/gateway-api/http';
import { type Origins, readinessOf } from '../../edge/front-door/readiness.ts';
import { createRequestRecords } from '../../edge/requests/request-records.ts';
import { createUpstreams } from '../../edge/front-door/upstreams.ts';
import { registerDocumentation } from '../../edge/openapi/documentation-routes.ts';
import { addConsole } from '../console.ts';
import type { Parts } from '../parts.ts';
import type { RunningService } from '../../edge/running-service.ts';
import { type RoutedService, routedServices } from '../../configuration/service-names.ts';

/** Maximum concurrent requests per instance of a service; more wait. */
const connectionsMax = 1_024;
const connectWithinMs = 1_000;
const bodyWithinMs = 30_000;

/**
 * How long an idle connection is kept: shorter than our servers keep theirs, because a request on a connection that
 * has just been closed has an unknown outcome.
 */
const idleConnectionMs = 4_000;

/** Maximum wait of a request for the next event. */
const feedWaitMs = 25_000;

/** Margin beyond two calls of the Payment Service; a repeat waits for the first one's. */
const besidesCallsMs = 10_000;

/** Documents the API, and forwards it to the services that do not run in this process. */
export async function startFrontDoor(parts: Parts): Promise<RunningService> {
  const { clock, logOf } = parts;
  const elsewhere = routedServices.filter((service) => !parts.runs(service));
  if (elsewhere.length === 0) return { registerRoutes: (app) => registerPages(app, parts) };
  const upstreams: Origins = Object.fromEntries(
    elsewhere.map((service) => [service, originsOf(parts, service)]),
  );
  const agent = openAgent(parts);
  const [log, credential] = [logOf('api'), parts.internalCredential()];
  const readiness = shared(() => readinessOf({ agent, clock }, upstreams));
  return {
    async registerRoutes(app) {
      await registerPages(app, parts);
      for (const service of elsewhere) {
        const instances = createUpstreams({ origins: originsOf(parts, service), agent, clock });
        await registerForwarding(app, { routes: routesOf(service), upstreams: instances, credential, log });
      }
    },
    ...reportToQueryService(parts),
    notReady: async () => (await readiness()).notReady,
    degraded: async () => (await readiness()).degraded,
  };
}

/** For people: the documentation, and the console. */
async function registerPages(app: FastifyInstance, parts: Parts): Promise<void> {
  await registerDocumentation(app);
  await addConsole(app, parts);
}

/** If the query service runs separately, each of its processes receives the records of requests. */
function reportToQueryService(parts: Parts): Pick<RunningService, 'noteRequest'> {
  if (parts.runs('query-service')) return {};
  const { clock, logOf, stops } = parts;
  const upstreams = originsOf(parts, 'query-service');
  const credential = parts.internalCredential();
  const records = createRequestRecords({ upstreams: () => upstreams, credential, clock, log: logOf('api') });
  stops.defer(() => records.close());
  return { noteRequest: records.note };
}

const variables: Readonly<Record<RoutedService, string>> = {
  'command-service': 'COMMAND_SERVICE_URL',
  'query-service': 'QUERY_SERVICE_URL',
  notifier: 'NOTIFIER_URL',
};

function originsOf({ config }: Parts, service: RoutedService): readonly string[] {
  const origins = config.upstreams[service];
  if (origins !== undefined) return origins;
  throw new StartupError(
    'config_invalid',
    `Set ${variables[service]} to the URL of the ${service}, which does not run in this process.`,
  );
}

function openAgent({ config, stops }: Parts): Agent {
  const { callDeadlineMs, sendWithinMs } = config.times;
  const agent = new Agent({
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: connectWithinMs, rejectUnauthorized: true },
    headersTimeout: Math.max(2 * callDeadlineMs + sendWithinMs, feedWaitMs) + besidesCallsMs,
    bodyTimeout: bodyWithinMs,
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
  });
  stops.defer(() => agent.destroy());
  return agent;
}

/** Concurrent callers share one answer. */
function shared<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asking: Promise<Answer> | undefined;
  return () => (asking ??= ask().finally(() => (asking = undefined)));
}
