/** Composes all services into one process. */
import { type Accounts, createCommandService } from '@tollgate/command-service';
import { createEventPublisher } from '@tollgate/event-publisher';
import { createNotificationJournal, registerNotificationRoutes, runNotifier } from '@tollgate/notifier';
import { isAllowedOrigin } from '@tollgate/payment-domain';
import { createProjector } from '@tollgate/projector';
import { createQueryService } from '@tollgate/query-service';
import { type TeamDirectory, createPaymentIndex, createTeamDirectory } from '@tollgate/read-models';
import {
  type CallbackSecret,
  type Clock,
  type Ids,
  type Log,
  type NotificationMasterSecret,
  Secret,
  callbackPath,
  given,
  parseCallbackSecrets,
  parseNotificationSecrets,
} from '@tollgate/service-kit';
import type { GatewayConfig } from './config.ts';
import { type DataDirectory, type Quickstart, openDataDirectory } from './data-directory.ts';
import { ensureDemoTeam } from './demo-team.ts';
import { type Ports, openPorts } from './ports.ts';
import { type ApiParts, startApiServer, startCallbackServer } from './http-servers.ts';
import { type Metrics, createMetrics } from './metrics/metrics.ts';
import { watchServices } from './metrics/watch-services.ts';
import { openAccounts } from './open-accounts.ts';

export interface GatewayDependencies {
  config: GatewayConfig;
  clock: Clock;
  ids: Ids;
  /** Gives the log of one service. */
  logOf: (service: string) => Log;
  /** The environment variables, for the private keys that the accounts file names. */
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
}

export interface Gateway {
  quickstart: Quickstart;
  quickstartFile: string;
  /** Takes no more requests, ends what is under way, and lets go of all files. */
  stop(): Promise<void>;
}

/** Notes what has to be stopped; it is done in reverse, because what was started last leans on what was started before. */
export type OnStop = (stop: () => Promise<void>) => void;

/**
 * Starts everything; resolves when the gateway is ready to take payments.
 *
 * @throws StartupError whose message says what to do. What had been started by then is stopped again.
 */
export async function startGateway(deps: GatewayDependencies): Promise<Gateway> {
  const toStop: (() => Promise<void>)[] = [];
  // What fails to stop must not keep the others from ending what they have under way.
  async function stop(): Promise<void> {
    for (const stopOne of toStop.splice(0).reverse())
      await stopOne().catch((error: unknown) =>
        deps.logOf('gateway').error({ error }, 'a part could not be stopped'),
      );
  }
  try {
    const directory = openDataDirectory(deps.config.dataDir, deps.config.instance);
    const quickstart = await startParts(deps, directory, (stopOne) => toStop.push(stopOne));
    directory.writeQuickstart(quickstart);
    return { quickstart, quickstartFile: directory.quickstartFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(
  deps: GatewayDependencies,
  directory: DataDirectory,
  onStop: OnStop,
): Promise<Quickstart> {
  const { config, clock, ids, pid } = deps;
  const metrics = createMetrics({ log: deps.logOf('metrics') });
  const ports = await openPorts(deps, directory.eventsFile, onStop);
  const secrets = callbackSecretsOf(deps, directory);
  const callbackUrl = await startCallbackServer(deps, { bus: ports.bus, secrets, metrics }, onStop);
  const { accounts, sandbox } = await openAccounts({ ...deps, metrics }, directory, onStop);
  const knownKey = directory.readQuickstart()?.apiKey;
  const apiKey = await ensureDemoTeam(
    { store: ports.store, clock, ids },
    knownKey === undefined ? undefined : new Secret(knownKey),
  );
  const callbackUrlOf = (environment: string, token: string) =>
    `${config.callbackPublicUrl ?? callbackUrl}${callbackPath(secrets, environment, token)}`;
  const { indexFile } = directory;
  const notificationSecrets = notificationSecretsOf(deps, directory);
  const parts = { ...ports, indexFile, accounts, callbackUrlOf, notificationSecrets, metrics };
  const api = await startServices(deps, parts, onStop);
  const gatewayUrl = await startApiServer(deps, api, onStop);
  return {
    gatewayUrl,
    apiKey: apiKey.reveal(),
    callbackUrl,
    ...(sandbox === undefined
      ? {}
      : {
          paymentServiceUrl: sandbox.httpsUrl,
          paymentServiceHttpUrl: sandbox.httpUrl,
          paymentServiceKey: sandbox.key.reveal(),
          caFile: sandbox.caFile,
        }),
    pid,
  };
}

function callbackSecretsOf({ config, ids }: GatewayDependencies, directory: DataDirectory) {
  const configured = config.callbackSecrets;
  const secrets: readonly CallbackSecret[] =
    configured === undefined ? directory.callbackSecrets(ids) : parseCallbackSecrets(configured);
  return secrets;
}

const notificationSecretsOf = ({ config, ids }: GatewayDependencies, directory: DataDirectory) =>
  config.notificationSecrets === undefined
    ? directory.notificationSecrets(ids)
    : parseNotificationSecrets(config.notificationSecrets);

interface ServiceParts extends Ports {
  indexFile: string;
  notificationSecrets: readonly NotificationMasterSecret[];
  accounts: Accounts;
  callbackUrlOf: (environment: string, token: string) => string;
  metrics: Metrics;
}

async function startServices(
  deps: GatewayDependencies,
  parts: ServiceParts,
  onStop: OnStop,
): Promise<ApiParts> {
  const { config, clock, ids, logOf } = deps;
  const { store, isStoreReachable, bus, runAlone, indexFile, accounts, callbackUrlOf, metrics } = parts;
  const directory = createTeamDirectory({ store, log: logOf('team-directory') });
  onStop(() => directory.stop());
  const index = createPaymentIndex({ file: indexFile, store, clock, log: logOf('query-service') });
  onStop(() => index.stop());
  const projector = createProjector({ store, clock, ids, log: logOf('projector') });
  const projectorHealth = startAlone('projector', projector, parts, onStop);
  const publisher = createEventPublisher({ store, bus, clock, ids, log: logOf('event-publisher') });
  const publisherHealth = startAlone('event-publisher', publisher, parts, onStop);
  await Promise.all([directory.start(), index.start()]);
  const commands = createCommandService({
    ...{ store, bus, directory, clock, ids, runAlone, callbackUrlOf, accounts },
    openPayments: (page) => index.openPayments(page),
    openPayouts: (page) => index.openPayouts(page),
    findByServiceToken: (environment, account, serviceToken) =>
      index.findByServiceToken(environment, account, serviceToken),
    times: config.times,
    log: logOf('command-service'),
  });
  onStop(() => commands.stop());
  commands.start();
  const queries = createQueryService({
    ...{ store, index, directory, clock, log: logOf('query-service') },
    onUnresolvedRead: (token) => commands.lookForReader(token),
  });
  const notifications = startNotifier(deps, parts, directory, onStop);
  watchServices(metrics, { ...{ accounts, index, store, clock }, projectorHealth, publisherHealth });
  const notReady = () => [
    ...(isStoreReachable() ? [] : ['event-store']),
    ...(projectorHealth()?.isAdvancing === false ? ['projector'] : []),
  ];
  // Payments are taken without it; callbacks are asked to come again.
  const degraded = () => (bus.isConnected() ? [] : ['message-bus']);
  return { services: [commands, queries, notifications], notReady, degraded, directory, metrics };
}

/** To be started once the directory is, which tells whom it may call. @returns the routes that show what teams were told */
function startNotifier(
  { config, clock, ids, logOf }: GatewayDependencies,
  { store, runAlone, notificationSecrets: secrets }: ServiceParts,
  directory: TeamDirectory,
  onStop: OnStop,
): ApiParts['services'][number] {
  const log = logOf('notifier');
  const isCallbackAllowed = (team: string, url: string) =>
    isAllowedOrigin(url, directory.callbackOriginsOf(team));
  const allowed = { isCallbackAllowed, ...given({ allowedNetworks: config.notificationNetworks }) };
  const notifying = { store, clock, ids, log, secrets, ...allowed };
  onStop(inBackground((signal) => runAlone('notifier', signal, (held) => runNotifier(notifying, held))));
  const journal = createNotificationJournal({ store, clock, ids });
  return { registerRoutes: (app) => registerNotificationRoutes(app, { store, journal, directory, log }) };
}

/** @returns what tells how it is; undefined while this replica stands by, because another one does its work. */
function startAlone<Health>(
  name: string,
  service: { run(signal: AbortSignal): Promise<void>; health(): Health },
  { runAlone }: Pick<Ports, 'runAlone'>,
  onStop: OnStop,
): () => Health | undefined {
  let isRunning = false;
  async function run(signal: AbortSignal): Promise<void> {
    isRunning = true;
    await service.run(signal).finally(() => (isRunning = false));
  }
  onStop(inBackground((signal) => runAlone(name, signal, run)));
  return () => (isRunning ? service.health() : undefined);
}

/** Begins work that runs until its signal is aborted, and gives what stops it. */
function inBackground(work: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const stopping = new AbortController();
  const running = work(stopping.signal);
  return async () => {
    stopping.abort();
    await running;
  };
}
