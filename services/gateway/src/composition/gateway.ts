/** Composes the services of a process: all of them, or the named ones. */
import { startPatiently } from './start-failure.ts';
import { type Quickstart, openDataDirectory } from '../configuration/data-directory.ts';
import type { GatewayConfig } from '../configuration/config.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { issueLink, sessionIdOf, signInAddress } from '@tollgate/console';
import { demoKey } from './demo-team.ts';
import { quickstartFieldsOf } from './sandbox.ts';
import { type ApiParts, addressesOf, startApiServer, startMetricsServer } from '../edge/http-servers.ts';
import { watchTeams } from './metrics/watch-services.ts';
import { type Parts, createParts, indexFileOf } from './parts.ts';
import type { RequestRecord } from '@tollgate/requests';
import type { RunningService } from '../edge/running-service.ts';
import { compose } from '../compose.ts';
import { announceTo, internalRoutesOf } from './share-requests.ts';
import {
  type ServiceName,
  indexedServices,
  routedServices,
  serviceNames,
} from '../configuration/service-names.ts';
import { everywhere } from '@tollgate/teams';
import { sandboxAddresses } from '@tollgate/payment-service/settings';
import { type ListenAddress, omitUndefined, requireFreePorts } from '@tollgate/service-kit';

/** Maximum duration of a stop: the longest call of the Payment Service and a margin. @unit milliseconds */
export const stopBudgetMs = 15_000;

export interface Gateway {
  /** Address of the HTTP server of this process. */
  url: string;
  /** Address of its metrics. */
  metricsUrl: string;
  /** The first screen for a newcomer; undefined if this process runs only some of the services. */
  quickstart: { file: string; content: Quickstart; keyToRevoke?: string } | undefined;
  /**
   * A single-use address for signing in to the console; undefined if this process has no console.
   *
   * @param person recorded in events and the security log
   */
  signInLink(person: string): string | undefined;
  /** What does not work yet, like /readyz; waits briefly for connections. */
  missing(): Promise<readonly string[]>;
  /** Rejects new requests, ends those under way, and releases all files. */
  stop(): Promise<void>;
}

/**
 * Starts the services; resolves when they are ready to serve. Waits for an event store that elects a leader.
 *
 * @throws StartupError whose message says what to do. Everything started by then is stopped again.
 */
export const startGateway = (
  deps: GatewayDependencies,
  services: readonly ServiceName[] = serviceNames,
): Promise<Gateway> =>
  startPatiently({ clock: deps.clock, log: deps.logOf('gateway') }, () => startOnce(deps, services));

async function startOnce(deps: GatewayDependencies, services: readonly ServiceName[]): Promise<Gateway> {
  const stops = new AsyncDisposableStack();
  const stop = () =>
    stops
      .disposeAsync()
      .catch((error: unknown) => deps.logOf('gateway').error({ error }, 'a part could not be stopped'));
  try {
    const { dataDir, instance, indexDir } = deps.config;
    // A process without an index needs no folder for it: in a container there may be no writable one.
    const hasIndex = services.some((service) => indexedServices.includes(service));
    const dataDirectory = openDataDirectory(dataDir, instance, hasIndex ? indexDir : undefined);
    const runs = (service: ServiceName) => services.includes(service);
    // Before the ports: a second gateway should report the first one, and not its ports.
    if (hasIndex)
      stops.adopt(dataDirectory.lockIndex(indexFileOf(dataDirectory, runs)), (lock) => lock.close());
    const parts = createParts(deps, { dataDirectory, stops, runs });
    const isWhole = serviceNames.every(parts.runs);
    await requireFreePorts(portsOf(deps.config, runs));
    const { running, callbackUrl } = await compose(parts);
    const api = await apiOf(parts, running);
    const metricsUrl = await startMetricsServer(parts, api, stops);
    await announceTo(parts, metricsUrl);
    const url = await startApiServer(parts, api, stops);
    const signInLink = (person: string) => (parts.runs('api') ? signInLinkOf(parts, url, person) : undefined);
    const own = { url, metricsUrl, signInLink, missing: () => missingOf(deps, api), stop };
    if (!isWhole || callbackUrl === undefined) return { ...own, quickstart: undefined };
    // Last: a start that fails must not leave a key that was never shown.
    const { key, ...noKey } = await demoKey(parts);
    const content = await quickstartOf(parts, {
      gatewayUrl: url,
      callbackUrl,
      metricsUrl,
      ...omitUndefined({ apiKey: key?.reveal() }),
    });
    dataDirectory.writeQuickstart(content);
    return { ...own, quickstart: { file: dataDirectory.quickstartFile, content, ...noKey } };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Fixed ports of the servers that this process starts. A named instance may use the sandbox of another gateway. */
function portsOf(config: GatewayConfig, runs: (service: ServiceName) => boolean): ListenAddress[] {
  const { callbacks, ...others } = addressesOf(config);
  const hasSandbox =
    serviceNames.every(runs) && config.accountsFile === undefined && config.instance === undefined;
  return [
    ...Object.values(others),
    ...(runs('callback-ingester') ? [callbacks] : []),
    ...(hasSandbox ? Object.values(sandboxAddresses(config.paymentService)) : []),
  ];
}

/** The person who starts the gateway has all rights on it. */
function signInLinkOf(parts: Parts, url: string, person: string): string {
  const operator = { person, source: 'command-line' as const, grants: everywhere('admin') };
  const short = parts.ids.hex(10);
  parts.shortLinks.set(short, issueLink(parts.operatorCredentials(), operator));
  return signInAddress(url, short);
}

/** Maximum wait for connections at the end of a start. @unit milliseconds */
const connectingMs = 5_000;
const lookEveryMs = 100;

async function missingOf(
  { clock }: Pick<GatewayDependencies, 'clock'>,
  { notReady, degraded, building }: Pick<ApiParts, 'notReady' | 'degraded' | 'building'>,
): Promise<readonly string[]> {
  const giveUpAt = clock.monotonic() + connectingMs;
  for (;;) {
    const index = building?.() === undefined ? [] : ['index'];
    const missing = new Set([...(await notReady()), ...index, ...(await degraded())]);
    if (missing.size === 0 || clock.monotonic() >= giveUpAt) return [...missing];
    await clock.sleep(lookEveryMs);
  }
}

async function apiOf(parts: Parts, running: readonly RunningService[]): Promise<ApiParts> {
  const { runs, metrics } = parts;
  const hasRoutes = routedServices.some(runs);
  const directory = hasRoutes ? await parts.teams() : undefined;
  const areTeamsSuspect = () => directory !== undefined && directory.health().suspectStreams.length > 0;
  if (directory !== undefined) watchTeams(metrics, directory);
  return {
    services: running,
    // The public server has no internal routes.
    internal: runs('api') ? [] : running,
    registerInternal: internalRoutesOf(parts, running),
    isFront: runs('api'),
    ...(runs('api')
      ? {
          noteRequest: noteRequestOf(running),
          sessionOf: (request) => sessionIdOf(parts.operatorCredentials(), request),
        }
      : {}),
    ...(hasRoutes && !runs('api') ? { internalCredential: parts.internalCredential() } : {}),
    ...(directory === undefined ? {} : { directory }),
    notReady: () =>
      namesOf([
        Promise.resolve(parts.isStoreReachable() ? [] : ['event-store']),
        Promise.resolve(parts.isClockWrong() ? ['clock-skew'] : []),
        ...running.map(async (service) => service.notReady?.()),
      ]),
    degraded: () =>
      namesOf([
        Promise.resolve(areTeamsSuspect() ? ['team-records'] : []),
        ...running.map(async (service) => service.degraded?.()),
      ]),
    building: () => running.map((service) => service.building?.()).find((building) => building !== undefined),
    metrics,
    underWay: parts.underWay,
  };
}

/** The first recipient: the query service in this process, or the front door that forwards to others. */
function noteRequestOf(running: readonly RunningService[]): (record: RequestRecord) => void {
  const service = running.find(({ noteRequest }) => noteRequest !== undefined);
  return (record) => service?.noteRequest?.(record);
}

/** Each once. */
async function namesOf(
  reports: readonly Promise<readonly string[] | undefined>[],
): Promise<readonly string[]> {
  const names = await Promise.all(reports);
  return [...new Set(names.flatMap((some) => some ?? []))];
}

async function quickstartOf(
  parts: Parts,
  own: Pick<Quickstart, 'gatewayUrl' | 'apiKey' | 'callbackUrl' | 'metricsUrl'>,
): Promise<Quickstart> {
  const { sandbox } = await parts.accounts();
  return { ...own, ...(sandbox && quickstartFieldsOf(sandbox)), pid: parts.pid };
}
