import { reconciledAfterDaysDefault } from '@tollgate/reconciliation/settings';
import { isNetwork } from '@tollgate/webhooks/settings';
import { environmentSchema, inquiryDelays } from '@tollgate/core';
import { paymentServiceConfigSchema } from '@tollgate/payment-service/settings';
import { parseCallbackSecrets } from '@tollgate/provider/callbacks';
import {
  commaSeparatedSchema,
  logLevelSchema,
  orFault,
  parseDataSecrets,
  parseWebhookSecrets,
  portSchema,
  wholeNumberSchema,
  dayMs,
} from '@tollgate/service-kit';
import { z } from 'zod';
import { eventStoreEnvironmentSchema, toEventStoreConfig } from './event-store-config.ts';
import { parseInternalSecrets } from './internal-secrets.ts';
import { kafkaEnvironmentSchema, toKafkaConfig } from './kafka-config.ts';
import { oidcEnvironmentSchema, toOidcConfig } from './oidc-config.ts';
import { teamSigningEnvironmentSchema } from './team-signing.ts';

const durationMs = wholeNumberSchema({ of: 'milliseconds', min: 1, max: dayMs });

const isSeconds = (text: string): boolean => /^\d{1,9}(\.\d{1,3})?$/.test(text);

/** Empty: none. Milliseconds from here on. */
const distancesSchema = commaSeparatedSchema
  .refine(
    (all) => all.every((each, place) => isSeconds(each) && Number(each) > Number(all[place - 1] ?? 0)),
    'must be numbers of seconds, growing, separated by commas',
  )
  .transform((all) => all.map((each) => Number(each) * 1_000));

/** Empty: none. */
const environmentsSchema = commaSeparatedSchema.pipe(
  z.array(z.enum(environmentSchema.options, 'must be sandbox or production, or both separated by a comma')),
);

const publicUrlSchema = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((url) => !/[?#@]/.test(url), 'must be without user name, query and fragment')
  .transform((url) => url.replace(/\/+$/, ''));

const isOrigin = (text: string): boolean =>
  /^https?:/i.test(text) && URL.parse(text)?.origin === text.toLowerCase();

/** Addresses of the instances of a service. */
const originsSchema = commaSeparatedSchema
  .transform((origins) => origins.map((origin) => origin.replace(/\/$/, '')))
  .refine(
    (origins) => origins.length > 0 && origins.every(isOrigin),
    'must be an http or https URL without a path, or several of them separated by commas',
  );

const madeAtFirstStart = 'made at the first start';

const secretsSchema = <Secrets>(parse: (text: string) => Secrets) =>
  z.string().transform(orFault(parse)).optional();

export const defaultCallDeadlineMs = 10_000;
const callDeadlineSchema = durationMs
  .default(defaultCallDeadlineMs)
  .describe(
    'Timeout of one call to the Payment Service. A hosted page that another account can provide is waited for a third of it.',
  );

/** The only variables that the command line needs. */
export const dataDirConfigSchema = z
  .object({
    TOLLGATE_DATA_DIR: z.string().default('.data').describe('Directory for all durable data.'),
    WEBHOOK_SECRETS: secretsSchema(parseWebhookSecrets).meta({
      description:
        'Master secret from which the webhook secrets of teams are derived: `kid:secret`, or two entries during a rotation.',
      unset: madeAtFirstStart,
    }),
    DATA_SECRETS: secretsSchema(parseDataSecrets).meta({
      description:
        'Secret for request fingerprints and encrypted data: `kid:secret`, or several entries, with the one for new data first.',
      unset: madeAtFirstStart,
    }),
    INTERNAL_SECRETS: secretsSchema(parseInternalSecrets).meta({
      description:
        'Secret by which separate service processes authenticate each other: `kid:secret`, or two entries during a rotation.',
      unset: madeAtFirstStart,
    }),
    PROVIDER_ACCOUNTS_FILE: z
      .string()
      .optional()
      .describe(
        'JSON file of the merchant accounts (below). If unset, the gateway starts a sandbox and uses it.',
      ),
    PROVIDER_CALL_DEADLINE_MS: callDeadlineSchema,
  })
  .transform((env) => ({
    dataDir: env.TOLLGATE_DATA_DIR,
    webhookSecrets: env.WEBHOOK_SECRETS,
    dataSecrets: env.DATA_SECRETS,
    internalSecrets: env.INTERNAL_SECRETS,
    accountsFile: env.PROVIDER_ACCOUNTS_FILE,
    callDeadlineMs: env.PROVIDER_CALL_DEADLINE_MS,
  }))
  .and(eventStoreEnvironmentSchema.transform(orFault((env) => ({ eventStore: toEventStoreConfig(env) }))))
  .and(teamSigningEnvironmentSchema.transform((teamSigning) => ({ teamSigning })))
  .and(kafkaEnvironmentSchema.transform(orFault((env) => ({ kafka: toKafkaConfig(env) }))));

const networksSchema = commaSeparatedSchema.refine(
  (networks) => networks.length > 0 && networks.every(isNetwork),
  'must be networks like 10.20.0.0/16, separated by commas',
);

const daysSchema = commaSeparatedSchema
  .refine(
    (days) => days.length > 0 && days.every((day) => /^[1-9]\d{0,2}$/.test(day) && Number(day) <= 366),
    'must be whole numbers from 1 to 366, separated by commas',
  )
  .transform((days) => days.map(Number));

const retentionDaysSchema = wholeNumberSchema({ of: 'days', min: 1, max: 36_500 }).default(30);

const ownSchema = z
  .object({
    TOLLGATE_INSTANCE: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be 1 to 32 lower-case letters, digits and hyphens')
      .optional()
      .describe('Name of this gateway if several share the data directory. Each has its own index.'),
    TOLLGATE_INDEX_DIR: z
      .string()
      .optional()
      .describe(
        'Directory of the index, which is a cache. Defaults to the data directory. Processes on different machines need their own.',
      ),
    GATEWAY_HOST: z
      .string()
      .default('127.0.0.1')
      .describe('Listen address of the API and the callback server.'),
    GATEWAY_PORT: portSchema
      .default(3000)
      .describe(
        'Port of the API and its health routes. 0 uses any free port; `quickstart.json` has the actual one.',
      ),
    GATEWAY_METRICS_PORT: portSchema.optional().meta({
      description: 'Port of `/metrics`, `/healthz` and `/readyz`, for monitoring.',
      unset: '`3002`; any where `GATEWAY_PORT` is any',
    }),
    GATEWAY_METRICS_HOST: z.string().default('127.0.0.1').describe('Listen address of the metrics server.'),
    CALLBACK_PORT: portSchema.default(3001).describe('Port of the callback server. 0 uses any free port.'),
    GATEWAY_TLS_CERT_FILE: z
      .string()
      .optional()
      .describe(
        'PEM file of the TLS certificate of the API. If unset, the API uses HTTP, for use behind a proxy.',
      ),
    GATEWAY_TLS_KEY_FILE: z.string().optional().describe('PEM file of the private key of that certificate.'),
    GATEWAY_PLAIN_HTTP_PORT: portSchema
      .optional()
      .describe('Additional port that rejects plain HTTP, if the API uses HTTPS.'),
    GATEWAY_REQUESTS_PER_SECOND: wholeNumberSchema({ of: 'requests a second', min: 1, max: 100_000 })
      .default(1_000)
      .describe('Rate limit of API keys that have no limit of their own, per instance.'),
    GATEWAY_CONNECTIONS_MAX: wholeNumberSchema({ of: 'connections', min: 10, max: 100_000 })
      .default(2_000)
      .describe(
        'Maximum number of connections per server. One more closes the connection that has been idle the longest.',
      ),
    GATEWAY_IDLE_MS: durationMs
      .default(10_000)
      .describe('Idle timeout of connections. Set it longer than the idle timeout of your proxies.'),
    TRUSTED_PROXIES: networksSchema
      .optional()
      .describe('Networks of trusted proxies, whose `X-Forwarded-For` header is used. None by default.'),
    COMMAND_SERVICE_URL: originsSchema
      .optional()
      .describe('URLs of all command-service instances in other processes.'),
    QUERY_SERVICE_URL: originsSchema
      .optional()
      .describe('URLs of all query-service instances in other processes.'),
    NOTIFIER_URL: originsSchema.optional().describe('URLs of all notifier instances in other processes.'),
    PROVIDER_FAILURES_IN_A_ROW: wholeNumberSchema({ of: 'calls', min: 1, max: 1_000_000 })
      .default(10)
      .describe(
        "Consecutive failed calls that open the sandbox's circuit breaker. Other accounts set it in the accounts file.",
      ),
    CALLBACK_PUBLIC_URL: publicUrlSchema
      .optional()
      .describe('Public URL of the callback server, as the Payment Service reaches it.'),
    CALLBACK_SECRETS: secretsSchema(parseCallbackSecrets).meta({
      description:
        'Secret that authenticates callback URLs: `kid:secret`, or two entries during a rotation, with the one for new URLs first.',
      unset: madeAtFirstStart,
    }),
    CALLBACK_DAYS: wholeNumberSchema({ of: 'days', min: 30, max: 3_650 })
      .default(400)
      .describe('Lifetime of the callback URL of a payment or payout. An expired URL answers 410.'),
    WEBHOOK_NETWORKS: networksSchema
      .optional()
      .describe(
        'Private networks to which webhooks may be sent, for example `10.20.0.0/16`. By default only public addresses are allowed.',
      ),
    PROVIDER_CALL_DEADLINE_MS: callDeadlineSchema,
    PROVIDER_SEND_WITHIN_MS: durationMs
      .default(5_000)
      .describe('Maximum age of an announced call when it is sent. Must be the same in all processes.'),
    PROVIDER_QUIET_MS: durationMs
      .default(240_000)
      .describe(
        'Time that the Payment Service may still work on a request after our timeout. A process concludes that a call had no effect only after it has observed the announcement for this time plus the times for sending and answering. Must be the same in all processes.',
      ),
    FINAL_INQUIRIES_AFTER_S: distancesSchema
      .prefault(inquiryDelays.settled.map((ms) => ms / 1_000).join(','))
      .describe(
        'Seconds after the last change at which final payments and payouts are inquired again, to detect revisions. `,` disables it.',
      ),
    RECONCILE_AFTER_DAYS: daysSchema
      .prefault(reconciledAfterDaysDefault.join(','))
      .describe('Days after which a day is reconciled again. The current day is reconciled hourly.'),
    REVIEWS_BY_TWO: environmentsSchema
      .prefault('')
      .describe(
        'Environments in which reviews require two people, for example `production`. None by default. Must be the same in all processes.',
      ),
    WEBHOOK_RETENTION_DAYS: retentionDaysSchema.describe(
      'Retention of webhooks that were delivered or have failed permanently.',
    ),
    REQUEST_RETENTION_DAYS: retentionDaysSchema.describe(
      'Retention of API request records. Bodies are not stored.',
    ),
    REQUESTS_PER_TEAM_MAX: wholeNumberSchema({ of: 'requests', min: 100, max: 100_000_000 })
      .default(100_000)
      .describe(
        'Maximum number of stored request records per team and environment. The oldest are deleted first.',
      ),
    CONSOLE_IDLE_MINUTES: wholeNumberSchema({ of: 'minutes', min: 1, max: 540 })
      .default(15)
      .describe(
        'Idle timeout of console sessions. Automatic page refreshes do not count as activity. Must be the same in all processes.',
      ),
    TOLLGATE_LOG_LEVEL: logLevelSchema.default('warn').describe('Minimum log level.'),
  })
  .refine((env) => (env.GATEWAY_TLS_CERT_FILE === undefined) === (env.GATEWAY_TLS_KEY_FILE === undefined), {
    path: ['GATEWAY_TLS_CERT_FILE'],
    message: 'and GATEWAY_TLS_KEY_FILE must be set both or not at all',
    // Even if another variable is at fault, which would be reported alone.
    when: () => true,
  })
  .refine((env) => env.GATEWAY_PLAIN_HTTP_PORT === undefined || env.GATEWAY_TLS_CERT_FILE !== undefined, {
    path: ['GATEWAY_PLAIN_HTTP_PORT'],
    message: 'requires GATEWAY_TLS_CERT_FILE and GATEWAY_TLS_KEY_FILE',
    when: () => true,
  })
  .transform((env) => ({
    instance: env.TOLLGATE_INSTANCE,
    indexDir: env.TOLLGATE_INDEX_DIR,
    host: env.GATEWAY_HOST,
    gatewayPort: env.GATEWAY_PORT,
    callbackPort: env.CALLBACK_PORT,
    metrics: {
      host: env.GATEWAY_METRICS_HOST,
      port: env.GATEWAY_METRICS_PORT ?? (env.GATEWAY_PORT === 0 ? 0 : 3_002),
    },
    tlsFiles:
      env.GATEWAY_TLS_CERT_FILE === undefined || env.GATEWAY_TLS_KEY_FILE === undefined
        ? undefined
        : { certFile: env.GATEWAY_TLS_CERT_FILE, keyFile: env.GATEWAY_TLS_KEY_FILE },
    plainHttpPort: env.GATEWAY_PLAIN_HTTP_PORT,
    requestsPerSecondMax: env.GATEWAY_REQUESTS_PER_SECOND,
    connections: { connectionsMax: env.GATEWAY_CONNECTIONS_MAX, idleMs: env.GATEWAY_IDLE_MS },
    trustedProxies: env.TRUSTED_PROXIES,
    upstreams: {
      'command-service': env.COMMAND_SERVICE_URL,
      'query-service': env.QUERY_SERVICE_URL,
      notifier: env.NOTIFIER_URL,
    },
    failuresInARowMax: env.PROVIDER_FAILURES_IN_A_ROW,
    callbackPublicUrl: env.CALLBACK_PUBLIC_URL,
    callbackSecrets: env.CALLBACK_SECRETS,
    callbackLifetimeMs: env.CALLBACK_DAYS * dayMs,
    webhookNetworks: env.WEBHOOK_NETWORKS,
    times: {
      sendWithinMs: env.PROVIDER_SEND_WITHIN_MS,
      callDeadlineMs: env.PROVIDER_CALL_DEADLINE_MS,
      quietMs: env.PROVIDER_QUIET_MS,
    },
    inquiryDelays: { ...inquiryDelays, settled: env.FINAL_INQUIRIES_AFTER_S },
    reconciledAfterDays: env.RECONCILE_AFTER_DAYS,
    reviewsByTwo: env.REVIEWS_BY_TWO,
    webhookRetentionDays: env.WEBHOOK_RETENTION_DAYS,
    requests: { keptMs: env.REQUEST_RETENTION_DAYS * dayMs, perTeamMax: env.REQUESTS_PER_TEAM_MAX },
    sessionIdleMs: env.CONSOLE_IDLE_MINUTES * 60_000,
    logLevel: env.TOLLGATE_LOG_LEVEL,
  }));

/** All variables have defaults that suit a developer's machine. */
export const gatewayConfigSchema = dataDirConfigSchema
  .and(ownSchema)
  .and(oidcEnvironmentSchema.transform(orFault((env) => ({ identityProvider: toOidcConfig(env) }))))
  .and(paymentServiceConfigSchema.transform((paymentService) => ({ paymentService })));

export type GatewayConfig = z.infer<typeof gatewayConfigSchema>;
