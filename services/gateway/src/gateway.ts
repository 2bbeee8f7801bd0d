/** Composes all services into one process. */
import { createCommandService } from '@tollgate/command-service';
import { publishEvents } from '@tollgate/event-publisher';
import { createProjector } from '@tollgate/projector';
import { createQueryService } from '@tollgate/query-service';
import { createPaymentIndex, createTeamDirectory } from '@tollgate/read-models';
import {
  type CallbackSecret,
  type Clock,
  type Ids,
  type Log,
  Secret,
  callbackPath,
  parseCallbackSecrets,
} from '@tollgate/service-kit';
import type { GatewayConfig } from './config.ts';
import { type DataDirectory, type Quickstart, openDataDirectory } from './data-directory.ts';
import { ensureDemoTeam } from './demo-team.ts';
import { type Ports, openEmbeddedPorts } from './embedded-ports.ts';
import { type ApiParts, startApiServer, startCallbackServer } from './http-servers.ts';
import { type Provider, startSandbox } from './sandbox.ts';

export interface GatewayDependencies {
  config: GatewayConfig;
  clock: Clock;
  ids: Ids;
  /** Gives the log of one service. */
  logOf: (service: string) => Log;
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
  async function stop(): Promise<void> {
    for (const stopOne of toStop.splice(0).reverse()) await stopOne();
  }
  try {
    const directory = openDataDirectory(deps.config.dataDir);
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
  const ports = await openEmbeddedPorts(deps, directory.eventsFile, onStop);
  const secrets = callbackSecretsOf(deps, directory);
  const callbackUrl = await startCallbackServer(deps, { bus: ports.bus, secrets }, onStop);
  const provider = await startSandbox(deps, directory, onStop);
  const knownKey = directory.readQuickstart()?.apiKey;
  const apiKey = await ensureDemoTeam(
    { store: ports.store, clock, ids },
    knownKey === undefined ? undefined : new Secret(knownKey),
  );
  const callbackUrlOf = (environment: string, token: string) =>
    `${config.callbackPublicUrl ?? callbackUrl}${callbackPath(secrets, environment, token)}`;
  const { indexFile } = directory;
  const api = await startServices(deps, { ...ports, indexFile, provider, callbackUrlOf }, onStop);
  const gatewayUrl = await startApiServer(deps, api, onStop);
  return {
    gatewayUrl,
    apiKey: apiKey.reveal(),
    callbackUrl,
    paymentServiceUrl: provider.httpsUrl,
    paymentServiceHttpUrl: provider.httpUrl,
    paymentServiceKey: provider.key.reveal(),
    caFile: provider.caFile,
    pid,
  };
}

function callbackSecretsOf({ config, ids }: GatewayDependencies, directory: DataDirectory) {
  const configured = config.callbackSecrets;
  const secrets: readonly CallbackSecret[] =
    configured === undefined ? directory.callbackSecrets(ids) : parseCallbackSecrets(configured);
  return secrets;
}

interface ServiceParts extends Ports {
  indexFile: string;
  provider: Provider;
  callbackUrlOf: (environment: string, token: string) => string;
}

async function startServices(
  deps: GatewayDependencies,
  parts: ServiceParts,
  onStop: OnStop,
): Promise<ApiParts> {
  const { config, clock, ids, logOf } = deps;
  const { store, bus, runAlone, indexFile, provider, callbackUrlOf } = parts;
  const directory = createTeamDirectory({ store, log: logOf('team-directory') });
  onStop(() => directory.stop());
  const index = createPaymentIndex({ file: indexFile, store, clock, log: logOf('query-service') });
  onStop(() => index.stop());
  const notReady = startProjector(deps, parts, onStop);
  const publishing = { store, bus, clock, ids, log: logOf('event-publisher') };
  onStop(
    inBackground((signal) => runAlone('event-publisher', signal, (held) => publishEvents(publishing, held))),
  );
  await Promise.all([directory.start(), index.start()]);
  const commands = createCommandService({
    ...{ store, bus, directory, clock, ids, runAlone, callbackUrlOf },
    openPayments: (page) => index.openPayments(page),
    account: { name: 'sandbox', client: provider.client },
    times: config.times,
    log: logOf('command-service'),
  });
  onStop(() => commands.stop());
  commands.start();
  const queries = createQueryService({ store, index, directory, clock, log: logOf('query-service') });
  return { services: [commands, queries], notReady };
}

/** @returns what tells whether it is ready. A replica that stands by is: another one projects. */
function startProjector(
  { clock, ids, logOf }: GatewayDependencies,
  { store, runAlone }: Ports,
  onStop: OnStop,
): () => readonly string[] {
  const projector = createProjector({ store, clock, ids, log: logOf('projector') });
  let isProjecting = false;
  async function project(signal: AbortSignal): Promise<void> {
    isProjecting = true;
    await projector.run(signal).finally(() => (isProjecting = false));
  }
  onStop(inBackground((signal) => runAlone('projector', signal, project)));
  return () => (isProjecting && !projector.health().isAdvancing ? ['projector'] : []);
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
