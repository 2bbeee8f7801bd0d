/** Brings up the system as their own processes. */
import { fileURLToPath } from 'node:url';
import type { Secret } from '@tollgate/service-kit';
import { z } from 'zod';
import type { GatewayConfig } from '../configuration/config.ts';
import { type DataDirectory, type Quickstart, openDataDirectory } from '../configuration/data-directory.ts';
import { demoKey } from '../composition/demo-team.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { toUrl } from '../edge/http-server.ts';
import { whatIsMissing } from '../composition/missing.ts';
import { createParts } from '../composition/parts.ts';
import { startPatiently } from '../composition/start-failure.ts';
import { keyVariablesOf } from '../configuration/account-config.ts';
import { serviceNames } from '../configuration/service-names.ts';
import { freePorts } from './free-ports.ts';
import { type PlannedProcess, planProcesses } from './plan.ts';
import { type Member, type ProcessGroup, createProcessGroup } from './process-group.ts';
import { openSandbox, quickstartFieldsOf } from '../composition/sandbox.ts';
import { writeSandboxAccounts } from '../configuration/sandbox-account.ts';

export interface LaunchOptions extends GatewayDependencies {
  instances: number;
  /** Prints a line. */
  say: (line: string) => void;
}

interface Ready {
  quickstart: Quickstart;
  file: string;
  /** What does not work yet, like /readyz. */
  missing: readonly string[];
}

export interface Launch {
  /** Resolves when everything serves. Rejects with StartupError if a process cannot be started. */
  ready: Promise<Ready>;
  stop: ProcessGroup['stop'];
}

/** First the processes that accept requests. The sandbox that they call is in this process. */
const stopOrder = [
  ['api'],
  ['callback-ingester', 'command-service', 'query-service', 'notifier'],
  ['projector', 'event-publisher'],
];

const program = fileURLToPath(new URL('../main.ts', import.meta.url));

/** @throws StartupError if the data directory cannot be used */
export function launch(options: LaunchOptions): Launch {
  const { config, env, clock, say } = options;
  const directory = openDataDirectory(config.dataDir, config.instance);
  const group = createProcessGroup({ stopOrder, listFile: directory.processesFile, env, clock, say });
  const stops = new AsyncDisposableStack();
  return {
    ready: bringUp(options, directory, { group, stops }),
    async stop(signal) {
      await group.stop(signal);
      await stops.disposeAsync();
    },
  };
}

async function bringUp(
  options: LaunchOptions,
  directory: DataDirectory,
  { group, stops }: { group: ProcessGroup; stops: AsyncDisposableStack },
): Promise<Ready> {
  const { instances, pid, clock } = options;
  const count = instances * 3 * serviceNames.length + 5;
  const spare = (await freePorts(count, options.ids, configuredPorts(options.config))).values();
  const nextPort = () => Number(spare.next().value);
  const config = withPorts(options.config, nextPort);
  const patient = { clock, log: options.logOf('gateway') };
  const apiKey = await startPatiently(patient, () => prepareDemoTeam(options, directory));
  const { accountsFile, fields } = await bringUpProvider({ ...options, config }, directory, stops);
  const dataDir = directory.path;
  const planned = planProcesses({
    config,
    instances,
    dataDir,
    accountsFile,
    nextPort,
    keyVariables: keyVariablesOf(accountsFile),
  });
  await Promise.all(planned.map((each) => group.start(toMember(each))));
  const scheme = config.tlsFiles === undefined ? 'http' : 'https';
  const quickstart: Quickstart = {
    gatewayUrl: toUrl(config.host, config.gatewayPort, scheme),
    ...(apiKey === undefined ? {} : { apiKey: apiKey.reveal() }),
    callbackUrl: toUrl(config.host, config.callbackPort),
    metricsUrl: toUrl(config.metrics.host, config.metrics.port),
    ...fields,
    pid,
  };
  directory.writeQuickstart(quickstart);
  const missing = await whatIsMissing(clock, () => missingAt(quickstart.metricsUrl));
  return { quickstart, file: directory.quickstartFile, missing };
}

const healthSchema = z.object({ notReady: z.array(z.string()), degraded: z.array(z.string()) });

/** Via the front door, which asks all others. */
async function missingAt(metricsUrl: string): Promise<readonly string[]> {
  const answer = await fetch(`${metricsUrl}/readyz`).catch(() => undefined);
  const health = healthSchema.safeParse(await answer?.json().catch(() => undefined));
  return health.success ? [...health.data.notReady, ...health.data.degraded] : ['metrics'];
}

/** No process listens on them yet; occasionally another of ours took one of them, and the start failed. */
const configuredPorts = ({
  gatewayPort,
  callbackPort,
  metrics,
  plainHttpPort,
  paymentService,
}: GatewayConfig) =>
  [
    gatewayPort,
    callbackPort,
    metrics.port,
    plainHttpPort,
    paymentService.httpsPort,
    paymentService.httpPort,
  ].filter((port) => port !== undefined);

/** A process with any port gets the same one again at a restart. */
function withPorts(config: GatewayConfig, nextPort: () => number): GatewayConfig {
  const portOf = (configured: number) => (configured === 0 ? nextPort() : configured);
  const { paymentService } = config;
  return {
    ...config,
    gatewayPort: portOf(config.gatewayPort),
    callbackPort: portOf(config.callbackPort),
    metrics: { ...config.metrics, port: portOf(config.metrics.port) },
    paymentService: {
      ...paymentService,
      httpsPort: portOf(paymentService.httpsPort),
      httpPort: portOf(paymentService.httpPort),
    },
  };
}

/** The accounts of the given file, or that of our own sandbox. */
async function bringUpProvider(
  options: LaunchOptions,
  directory: DataDirectory,
  stops: AsyncDisposableStack,
): Promise<{ accountsFile: string; fields: Partial<Quickstart> }> {
  const { accountsFile, failuresInARowMax } = options.config;
  if (accountsFile !== undefined) return { accountsFile, fields: {} };
  const sandbox = await openSandbox(options, directory, stops);
  return {
    accountsFile: writeSandboxAccounts(directory, sandbox, failuresInARowMax),
    fields: quickstartFieldsOf(sandbox),
  };
}

/** Opens the store for that alone, and closes it: the processes have their own. */
async function prepareDemoTeam(
  options: LaunchOptions,
  dataDirectory: DataDirectory,
): Promise<Secret | undefined> {
  await using stops = new AsyncDisposableStack();
  return await demoKey(
    createParts(options, { dataDirectory, stops, runs: () => false, isInstallation: true }),
  );
}

const toMember = ({ label, service, port, metricsPort, env, inherited }: PlannedProcess): Member => ({
  label,
  service,
  port,
  metricsPort,
  env,
  inherited,
  argv: [program, service],
  isReadyLine: (line) => line.startsWith(`${service}: ready`),
});
