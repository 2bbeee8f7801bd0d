/**
 * One gateway process with all services, composed as in `services/gateway/src/composition`, on the simulated parts. Only the
 * listening sockets are left out; routes are called without a socket.
 */
import { registerCallbackRoutes } from '@tollgate/callback-ingester';
import { type EventStore, runUnderLease } from '@tollgate/event-store';
import {
  type Parts,
  type RunAlone,
  gatewayConfigSchema,
  inBackground,
  joinStore,
  startCommandService,
  startEventPublisher,
  startNotifier,
  startProjector,
  startQueryService,
} from '@tollgate/gateway/composition';
import { type KafkaMessageBus, type MessageBus, createEmbeddedMessageBus } from '@tollgate/message-bus';
import type { WebhookClient } from '@tollgate/webhooks';
import { type Connections, providers } from '@tollgate/provider';
import { parseCallbackSecrets } from '@tollgate/provider/callbacks';
import {
  type Log,
  answerInJsonOnly,
  createRequestIds,
  httpServerOptions,
  parseDataSecrets,
  parseWebhookSecrets,
  readConfig,
} from '@tollgate/service-kit';
import type { TeamDirectory } from '@tollgate/teams';
import { type PaymentIndex, createPaymentIndex } from '@tollgate/lists';
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import type { Life } from './machine.ts';
import { createAccounts } from '@tollgate/accounts';

export interface ProcessParts {
  life: Life;
  store: EventStore;
  wrapBus: (bus: MessageBus, life: Life) => KafkaMessageBus;
  directory: TeamDirectory;
  accounts: readonly string[];
  connectionsTo: (account: string, life: Life) => Connections;
  webhookClient: WebhookClient;
  log: Log;
  /** Duration of leases: longer ones need fewer steps for the same time. @unit milliseconds */
  leaseMs: number;
  config: SimulatedConfig;
}

export interface GatewayProcess {
  /** Serves the API for teams and the Payment Service's callbacks. */
  server: FastifyInstance;
  index: PaymentIndex;
}

const secret = 's'.repeat(32);
const callbackSecrets = parseCallbackSecrets(`k1:${secret}`);
export const dataSecret = `k1:${secret}`;
const dataSecrets = parseDataSecrets(dataSecret);
const webhookSecrets = parseWebhookSecrets(`k1:${secret}`);
export const callbackBase = 'https://callbacks.sim';

/** Configuration of all processes of a world. */
export const configOf = (settledAfterS: readonly number[], isReviewByTwo: boolean) =>
  readConfig(gatewayConfigSchema, {
    CALLBACK_PUBLIC_URL: callbackBase,
    FINAL_INQUIRIES_AFTER_S: settledAfterS.join(','),
    REVIEWS_BY_TWO: isReviewByTwo ? 'sandbox' : '',
  });
type SimulatedConfig = ReturnType<typeof configOf>;

/** Resolves when the process serves; never if its life ends before. @throws any start-up failure */
export async function startProcess(given: ProcessParts): Promise<GatewayProcess> {
  const { life, directory, log, config, leaseMs: leaseDurationMs } = given;
  const { clock, ids } = life;
  const stops = new AsyncDisposableStack();
  const { store, members } = await joinStore({ store: given.store, clock, ids, log, member: life.name });
  const { share } = members;
  stops.defer(inBackground((signal) => share('provider-calls', signal)));
  const bus = given.wrapBus(
    createEmbeddedMessageBus({ store, clock, ids, holder: life.name, leaseDurationMs, log }),
    life,
  );
  const runAlone: RunAlone = (name, signal, work) =>
    runUnderLease(
      { store, clock, ids, name, holder: life.name, signal, durationMs: leaseDurationMs, log },
      work,
    );
  const delays = config.inquiryDelays;
  const index = createPaymentIndex({ file: ':memory:', store, clock, ids, log, delays });
  await index.start();

  const parts = {
    config,
    clock,
    ids,
    logOf: () => log,
    stops,
    metrics: noMetrics,
    env: {},
    pid: 1,
    runs: () => true,
    store: async () => store,
    isStoreReachable: () => true,
    isClockWrong: () => false,
    bus: async () => bus,
    runAlone: async () => runAlone,
    members: async () => members,
    teams: async () => directory,
    security: async () => noSecurity,
    index: async () => index,
    teamKeys: { verifier: () => ({ verify: () => false }) },
    accounts: async () => ({ accounts: accountsOf(given), sandbox: undefined }),
    dataDirectory: { requestsFile: ':memory:', webhooksFile: ':memory:' },
    callbackSecrets: () => callbackSecrets,
    webhookSecrets: () => webhookSecrets,
    dataSecrets: () => dataSecrets,
    // People use keys here; there is no sign-in.
    operatorCredentials: () => ({}),
    // Requests are not reported between processes here.
    internalCredential: () => ({}),
  } as unknown as Parts;

  const server = await serve(life, log);
  const ingesting = { bus, secrets: callbackSecrets, lifetimeMs: config.callbackLifetimeMs, clock, log };
  // In a gateway it has its own server, but two servers per process would start slowly.
  await server.register(async (own) => registerCallbackRoutes(own, ingesting));
  await startProjector(parts);
  await startEventPublisher(parts);
  const commands = await startCommandService(parts, { callbackUrl: callbackBase });
  const queries = await startQueryService(parts);
  const notifier = await startNotifier(parts, { client: given.webhookClient });
  const asked = withRoutesAsked(server);
  for (const service of [commands, queries, notifier]) await service.registerRoutes?.(asked);
  await server.ready();
  return { server, index };
}

async function serve({ clock, ids }: Life, log: Log): Promise<FastifyInstance> {
  const genReqId = createRequestIds({ clock, ids });
  const options = { ...httpServerOptions({ bodyLimitBytes: 64 * 1024 }), exposeHeadRoutes: false };
  const app = Fastify({ ...options, genReqId });
  answerInJsonOnly(app, log);
  return app;
}

/** Routes used in this world. Registering the other fifty would dominate the start. */
const routesAsked = new RegExp(
  [
    'POST /(payments|refunds|payouts)$',
    'POST /payments/(confirm|decline)$',
    'POST /payouts/:token/(approve|refuse)$',
    'POST /reviews/:token/resolve$',
    'POST /admin/(reconciliations|transfers|accounts/.*/(pause|drain|resume))$',
    'GET /(payments|payments/:token|payments/:token/events|events)$',
    'POST /webhook-endpoints$',
  ].join('|'),
);

/** The same server, restricted to these routes. */
const withRoutesAsked = (app: FastifyInstance): FastifyInstance =>
  Object.assign(Object.create(app) as FastifyInstance, {
    route: (given: RouteOptions) =>
      routesAsked.test(`${String(given.method)} ${given.url.replace('/api/v1', '')}`)
        ? app.route(given)
        : app,
  });

function accountsOf({ accounts, connectionsTo, life, log, config }: ProcessParts) {
  const { clock } = life;
  const { times } = config;
  return createAccounts({
    accounts: accounts.map((name) => ({
      environment: 'sandbox' as const,
      name,
      weight: 1,
      priority: 0,
      concurrentCallsMax: 20,
      callsPerSecondMax: 50,
      provider: providers['payment-service']({
        baseUrl: 'https://service.sim',
        privateKey: { reveal: () => 'key' },
        deadlineMs: times.callDeadlineMs,
        clock,
        connections: connectionsTo(name, life),
      }),
    })),
    clock,
    log,
    processes: () => 2,
  });
}

const noMetrics = {
  watch: () => undefined,
  request: () => undefined,
  providerCall: () => undefined,
  callback: () => undefined,
  refusedRequest: () => undefined,
};

/** The security log is not simulated: no money depends on it. */
const noSecurity = {
  security: {
    recordExport: async () => undefined,
    recordResolution: async () => undefined,
    recordCommand: async () => undefined,
    noteRefusal: () => undefined,
  },
  securityLog: { record: async () => undefined, teamsUpTo: async () => '' },
};
