/** The processes of the system, with addresses and environment. */
import { only, variablesOf } from '../configuration/service-variables.ts';
import type { GatewayConfig } from '../configuration/config.ts';
import { toUrl } from '../edge/http-server.ts';
import {
  type RoutedService,
  type ServiceName,
  routedServices,
  serviceNames,
} from '../configuration/service-names.ts';

export interface PlannedProcess {
  /** Names it in the log: `projector`, or `projector-2` if there are several. */
  label: string;
  service: ServiceName;
  /** Of its HTTP server. */
  port: number;
  metricsPort: number;
  env: Readonly<Record<string, string>>;
  /** Names of the variables that it inherits. */
  inherited: readonly string[];
}

export interface PlanOptions {
  config: Pick<
    GatewayConfig,
    'host' | 'gatewayPort' | 'callbackPort' | 'metrics' | 'callbackPublicUrl' | 'instance' | 'accountsFile'
  >;
  instances: number;
  /** Absolute. */
  dataDir: string;
  accountsFile: string;
  /** Variables with keys of the accounts file. */
  keyVariables: readonly string[];
  /** Returns free ports. */
  nextPort: () => number;
}

/** Address of a process that only its neighbors call. */
const loopback = '127.0.0.1';

export function planProcesses(options: PlanOptions): readonly PlannedProcess[] {
  const { config, instances, nextPort } = options;
  const seats = serviceNames.flatMap((service) =>
    Array.from({ length: instances }, (_, index) => ({ service, number: index + 1 })),
  );
  const placed = seats.map(({ service, number }) => ({
    service,
    number,
    isFirst: number === 1,
    port: service === 'api' && number === 1 ? config.gatewayPort : nextPort(),
    metricsPort: service === 'api' && number === 1 ? config.metrics.port : nextPort(),
  }));
  const originsOf = (service: RoutedService) =>
    placed
      .filter((each) => each.service === service)
      .map(({ port }) => `http://${loopback}:${port}`)
      .join(',');
  const [commands, queries, notifiers] = routedServices.map(originsOf);
  const shared = {
    TOLLGATE_DATA_DIR: options.dataDir,
    PROVIDER_ACCOUNTS_FILE: options.accountsFile,
    CALLBACK_PUBLIC_URL: config.callbackPublicUrl ?? callbackUrlOf(config),
    COMMAND_SERVICE_URL: commands ?? '',
    QUERY_SERVICE_URL: queries ?? '',
    NOTIFIER_URL: notifiers ?? '',
  };
  return placed.map(({ service, number, isFirst, port, metricsPort }) => ({
    label: instances === 1 ? service : `${service}-${number}`,
    service,
    port,
    metricsPort,
    inherited:
      service === 'command-service'
        ? [...variablesOf(service), ...options.keyVariables]
        : variablesOf(service),
    env: {
      ...only(shared, variablesOf(service)),
      // They trust the front door's report of the caller. An empty variable counts as not set.
      ...(service === 'api' ? {} : { TRUSTED_PROXIES: `${loopback}/32` }),
      ...(service === 'api' && !isFirst ? { GATEWAY_PLAIN_HTTP_PORT: '' } : {}),
      GATEWAY_HOST: service === 'api' || service === 'callback-ingester' ? config.host : loopback,
      GATEWAY_PORT: String(port),
      GATEWAY_METRICS_PORT: String(metricsPort),
      ...(service === 'callback-ingester'
        ? { CALLBACK_PORT: String(isFirst ? config.callbackPort : nextPort()) }
        : {}),
      // An index for each; the first continues with that of a gateway in one process.
      TOLLGATE_INSTANCE: isFirst ? (config.instance ?? '') : `${config.instance ?? 'services'}-${number}`,
    },
  }));
}

/** A process that listens on one address is reached at no other, including loopback. */
function callbackUrlOf({ host, callbackPort }: PlanOptions['config']): string {
  const isEveryAddress = host === '0.0.0.0' || host === '::';
  return toUrl(isEveryAddress ? loopback : host, callbackPort);
}
