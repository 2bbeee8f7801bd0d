/**
 * One gateway process with all services, composed as in `services/gateway/src/composition`, on the simulated parts. Only the
 * listening sockets are left out; routes are called without a socket.
 */
import { createAccounts } from '@tollgate/accounts';
import { registerCallbackRoutes } from '@tollgate/callback-ingester';
import { runUnderLease } from '@tollgate/event-store';
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
import { createEmbeddedMessageBus } from '@tollgate/message-bus';
import { parseCallbackSecrets } from '@tollgate/provider/callbacks';
import {
  type Log,
  answerInJsonOnly,
  createRequestIds,
  errorCode,
  httpServerOptions,
  parseDataSecrets,
  parseWebhookSecrets,
  readConfig,
} from '@tollgate/service-kit';
import { type PaymentIndex, createPaymentIndex } from '@tollgate/lists';
import Fastify, { type FastifyInstance } from 'fastify';
import { inspect } from 'node:util';
import { requireNoSecret } from '../checks/secrets.ts';
import { createSimulatedProvider } from '../payment-service/network.ts';
import { createWebhookClient } from '../people/receivers.ts';
import { accounts, createSimulatedDirectory } from '../people/teams.ts';
import type { World } from '../world.ts';
import { createFaultyBus } from './faulty-bus.ts';
import type { Life } from './machine.ts';
import { createSimulatedStore } from './simulated-store.ts';

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

/** Equal for all processes of a world. */
function configOf({ faults, pace, isReviewByTwo }: World) {
  // The first inquiry about final payments falls into the safety phase, however short the seed is.
  const settledAfterS =
    faults.blind === 'inquiries about what is final'
      ? [30 * 86_400]
      : [Math.round(300 * pace), 900, 2_400, 6_600];
  return readConfig(gatewayConfigSchema, {
    CALLBACK_PUBLIC_URL: callbackBase,
    FINAL_INQUIRIES_AFTER_S: settledAfterS.join(','),
    REVIEWS_BY_TWO: isReviewByTwo ? 'sandbox' : '',
  });
}

/** Resolves when the process serves; never if its life ends before. @throws any start-up failure */
export async function startProcess(world: World, life: Life): Promise<GatewayProcess> {
  const { clock, ids } = life;
  const config = configOf(world);
  // Longer leases need fewer steps for the same time.
  const leaseDurationMs = world.random.fork('lease').pick([10_000, 30_000, 60_000, 60_000]);
  const log = createListeningLog(world, life);
  const stops = new AsyncDisposableStack();
  const { store, members } = await joinStore({
    store: createSimulatedStore(world, life),
    clock,
    ids,
    log,
    member: life.name,
  });
  const { share } = members;
  stops.defer(inBackground((signal) => share('provider-calls', signal)));
  const embedded = createEmbeddedMessageBus({ store, clock, ids, holder: life.name, leaseDurationMs, log });
  const bus = createFaultyBus(world, embedded, life);
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
    teams: async () => createSimulatedDirectory(world.rules),
    security: async () => noSecurity,
    index: async () => index,
    teamKeys: { verifier: () => ({ verify: () => false }) },
    accounts: async () => ({ accounts: accountsOf(world, life, log), sandbox: undefined }),
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
  const notifier = await startNotifier(parts, { client: createWebhookClient(world, life) });
  for (const service of [commands, queries, notifier]) await service.registerRoutes?.(server);
  await server.ready();
  return { server, index };
}

/** A defect reported in the log is a violation as well. */
function createListeningLog({ complain }: World, life: Life): Log {
  const hear = (fields: { error?: unknown }, message: string) => {
    const { error } = fields;
    requireNoSecret('the log', `${message} ${inspect(fields)}`, complain);
    if (!(error instanceof Error)) return;
    const code = errorCode(error);
    const isDefect =
      code === 'invariant_violation' ||
      (code === undefined &&
        /^(TypeError|RangeError|ReferenceError|InvariantViolation|ZodError)$/.test(error.name));
    if (isDefect) complain('defect', `${life.name}: ${message}: ${error.stack ?? String(error)}`);
  };
  return { debug: () => undefined, info: () => undefined, warn: hear, error: hear };
}

async function serve({ clock, ids }: Life, log: Log): Promise<FastifyInstance> {
  const genReqId = createRequestIds({ clock, ids });
  const options = { ...httpServerOptions({ bodyLimitBytes: 64 * 1024 }), exposeHeadRoutes: false };
  const app = Fastify({ ...options, genReqId });
  answerInJsonOnly(app, log);
  return app;
}

const accountsOf = (world: World, life: Life, log: Log) =>
  createAccounts({
    accounts: accounts.map((name) => ({
      environment: 'sandbox' as const,
      name,
      weight: 1,
      priority: 0,
      concurrentCallsMax: 20,
      callsPerSecondMax: 50,
      provider: createSimulatedProvider(world, life, name),
    })),
    clock: life.clock,
    log,
    processes: () => 2,
  });

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
