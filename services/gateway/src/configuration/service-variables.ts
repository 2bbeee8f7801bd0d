/**
 * The environment variables that each service reads. A separate process should get only these, so that it has no secret that
 * it does not need if it is compromised.
 */
import { variableNames } from './config-fields.ts';
import { eventStoreEnvironmentSchema } from './event-store-config.ts';
import { kafkaEnvironmentSchema } from './kafka-config.ts';
import { oidcEnvironmentSchema } from './oidc-config.ts';
import type { ServiceName } from './service-names.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const ofEveryService = words(`
  TOLLGATE_DATA_DIR TOLLGATE_INSTANCE TOLLGATE_LOG_LEVEL GATEWAY_HOST GATEWAY_PORT GATEWAY_METRICS_HOST
  GATEWAY_METRICS_PORT GATEWAY_CONNECTIONS_MAX GATEWAY_IDLE_MS TRUSTED_PROXIES`);
const ofEventStore = variableNames(eventStoreEnvironmentSchema);
/** The bus is in the event store without Kafka. */
const ofBus = [...ofEventStore, ...variableNames(kafkaEnvironmentSchema)];
/** Of services that answer calls of the API behind the front door. */
const ofRoutes = words(`
  GATEWAY_REQUESTS_PER_SECOND INTERNAL_SECRETS CONSOLE_IDLE_MINUTES TOLLGATE_TEAM_SIGNING_PUBLIC_KEY
  TOLLGATE_TEAM_SIGNING_PUBLIC_KEY_FILE`);
const ofIndex = words('TOLLGATE_INDEX_DIR FINAL_INQUIRIES_AFTER_S');

const own: Readonly<Record<ServiceName, readonly string[]>> = {
  'callback-ingester': [...words('CALLBACK_PORT CALLBACK_SECRETS CALLBACK_DAYS'), ...ofBus],
  projector: ofEventStore,
  'event-publisher': ofBus,
  'command-service': [
    ...words(`
      PROVIDER_ACCOUNTS_FILE PROVIDER_FAILURES_IN_A_ROW PROVIDER_CALL_DEADLINE_MS PROVIDER_SEND_WITHIN_MS
      PROVIDER_QUIET_MS CALLBACK_PUBLIC_URL CALLBACK_SECRETS DATA_SECRETS RECONCILE_AFTER_DAYS REVIEWS_BY_TWO`),
    ...[...ofBus, ...ofRoutes, ...ofIndex],
  ],
  'query-service': [
    ...words('REQUEST_RETENTION_DAYS REQUESTS_PER_TEAM_MAX'),
    ...[...ofEventStore, ...ofRoutes, ...ofIndex],
  ],
  notifier: [
    ...words('WEBHOOK_SECRETS WEBHOOK_NETWORKS WEBHOOK_RETENTION_DAYS'),
    ...[...ofEventStore, ...ofRoutes],
  ],
  // The two times of the provider determine how long an answer may take.
  api: [
    ...words(`
      COMMAND_SERVICE_URL QUERY_SERVICE_URL NOTIFIER_URL INTERNAL_SECRETS GATEWAY_TLS_CERT_FILE GATEWAY_TLS_KEY_FILE
      GATEWAY_PLAIN_HTTP_PORT PROVIDER_CALL_DEADLINE_MS PROVIDER_SEND_WITHIN_MS`),
    ...variableNames(oidcEnvironmentSchema),
  ],
};

export const variablesOf = (service: ServiceName): readonly string[] => [...ofEveryService, ...own[service]];
