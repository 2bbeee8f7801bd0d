import { reconciledAfterDaysDefault } from '@tollgate/reconciliation/settings';
import { isNetwork, webhookShardsMax } from '@tollgate/webhooks/settings';
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

const defaultMetricsPort = 3002;

const durationMs = wholeNumberSchema({ of: 'milliseconds', min: 1, max: dayMs });

const secondsRule = 'must be numbers of seconds, growing, separated by commas';

/** Empty: none. Milliseconds from here on. */
const distancesSchema = commaSeparatedSchema
  .refine((all) => all.every((each) => /^\d{1,9}(\.\d{1,3})?$/.test(each) && Number(each) > 0), secondsRule)
  .transform((all) => all.map((each) => Number(each) * 1_000))
  .refine((all) => all.every((each, place) => place === 0 || each > (all[place - 1] ?? 0)), secondsRule);

const environmentsRule = 'must be sandbox or production, or both separated by a comma';

/** Empty: none. */
const environmentsSchema = commaSeparatedSchema.pipe(
  z.array(z.enum(environmentSchema.options, environmentsRule)),
);

const requestsPerSecondSchema = wholeNumberSchema({ of: 'requests a second', min: 1, max: 100_000 });

/** Paths are added to it. */
const publicUrlSchema = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((url) => !/[?#@]/.test(url), 'must be without user name, query and fragment')
  .transform((url) => url.replace(/\/+$/, ''));

const originsRule = 'must be an http or https URL without a path, or several of them separated by commas';

/** Where the instances of a service are reached. */
const originsSchema = commaSeparatedSchema
  .transform((origins) => origins.map((origin) => origin.replace(/\/$/, '')))
  .refine((origins) => origins.length > 0 && origins.every(isOrigin), originsRule);

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase();
}

const madeAtFirstStart = 'made at the first start';

const secretsSchema = <Secrets>(parse: (text: string) => Secrets) =>
  z.string().transform(orFault(parse)).optional();

/** How long one call of the Payment Service may take. */
export const defaultCallDeadlineMs = 10_000;
const callDeadlineSchema = durationMs
  .default(defaultCallDeadlineMs)
  .describe(
    'How long one call of the Payment Service may take. A payment page that another account may give is waited for a third of it.',
  );

/** The only variables that the command line needs. */
export const dataDirConfigSchema = z
  .object({
    TOLLGATE_DATA_DIR: z.string().default('.data').describe('Folder of everything durable.'),
    WEBHOOK_SECRETS: secretsSchema(parseWebhookSecrets).meta({
      description:
        'The masters of the secrets that webhooks to teams are signed with: `kid:secret`, or two during a rotation.',
      unset: madeAtFirstStart,
    }),
    DATA_SECRETS: secretsSchema(parseDataSecrets).meta({
      description:
        'What fingerprints of requests are made with, and what is kept encrypted: `kid:secret`, or several, the one for new data first.',
      unset: madeAtFirstStart,
    }),
    INTERNAL_SECRETS: secretsSchema(parseInternalSecrets).meta({
      description:
        'What services know each other by that run in processes of their own: `kid:secret`, or two during a rotation.',
      unset: madeAtFirstStart,
    }),
    PROVIDER_ACCOUNTS_FILE: z
      .string()
      .optional()
      .describe(
        'JSON file of the accounts at the Payment Service (below); without it, the gateway starts a sandbox and uses that.',
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
    (days) =>
      days.length > 0 && days.every((day) => /^\d{1,3}$/.test(day) && Number(day) >= 1 && Number(day) <= 366),
    'must be whole numbers from 1 to 366, separated by commas',
  )
  .transform((days) => days.map(Number));

const retentionDaysSchema = wholeNumberSchema({ of: 'days', min: 1, max: 36_500 }).default(30);

/** Also where another variable is at fault, which would be reported alone. */
const always = () => true;

const ownSchema = z
  .object({
    TOLLGATE_INSTANCE: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be 1 to 32 lower-case letters, digits and hyphens')
      .optional()
      .describe('Names this gateway among several on the same folder; each has an index of its own.'),
    TOLLGATE_INDEX_DIR: z
      .string()
      .optional()
      .describe(
        'Folder of the index, which is a cache: that of the data unless set. Processes on other machines share none.',
      ),
    GATEWAY_HOST: z
      .string()
      .default('127.0.0.1')
      .describe('Address that the API and the callbacks listen on.'),
    GATEWAY_PORT: portSchema
      .default(3000)
      .describe(
        'The API, or what of it the services of this process answer, with its health; 0 takes any free port, and `quickstart.json` has the actual one.',
      ),
    GATEWAY_METRICS_PORT: portSchema.optional().meta({
      description: '`/metrics`, `/healthz` and `/readyz`, for who watches over the process.',
      unset: '`3002`; any where `GATEWAY_PORT` is any',
    }),
    GATEWAY_METRICS_HOST: z.string().default('127.0.0.1').describe('Address that the metrics listen on.'),
    CALLBACK_PORT: portSchema
      .default(3001)
      .describe('Where the Payment Service calls back; 0 takes any free port.'),
    GATEWAY_TLS_CERT_FILE: z
      .string()
      .optional()
      .describe(
        'PEM file of a certificate: the API then speaks HTTPS. Without it, it speaks HTTP, for a proxy in front of it.',
      ),
    GATEWAY_TLS_KEY_FILE: z.string().optional().describe('PEM file of the key of that certificate.'),
    GATEWAY_PLAIN_HTTP_PORT: portSchema
      .optional()
      .describe('Beside HTTPS, a port that refuses whatever comes over plain HTTP.'),
    GATEWAY_REQUESTS_PER_SECOND: requestsPerSecondSchema
      .default(1_000)
      .describe('What a key may ask for where it was issued without a limit of its own, of each instance.'),
    GATEWAY_CONNECTIONS_MAX: wholeNumberSchema({ of: 'connections', min: 10, max: 100_000 })
      .default(2_000)
      .describe(
        'Connections of each server; where one more comes, the one that has been idle the longest is closed.',
      ),
    GATEWAY_IDLE_MS: durationMs
      .default(10_000)
      .describe(
        'How long a connection is kept without a request: longer than the proxies in front keep theirs.',
      ),
    TRUSTED_PROXIES: networksSchema
      .optional()
      .describe(
        "Networks of the proxies in front of this process, whose `X-Forwarded-For` is believed; nobody's unless set.",
      ),
    COMMAND_SERVICE_URL: originsSchema
      .optional()
      .describe('Where the command services are reached that run in other processes, each instance.'),
    QUERY_SERVICE_URL: originsSchema.optional().describe('The same of the query services.'),
    NOTIFIER_URL: originsSchema.optional().describe('The same of the notifiers.'),
    NOTIFIER_SHARDS: wholeNumberSchema({ of: 'parts', min: 1, max: webhookShardsMax })
      .default(1)
      .describe('Parts that the webhooks are sent in, so that several instances share the work.'),
    PROVIDER_FAILURES_IN_A_ROW: wholeNumberSchema({ of: 'calls', min: 1, max: 1_000_000 })
      .default(10)
      .describe(
        "Failed calls in a row after which the sandbox's circuit opens; of other accounts the file says it.",
      ),
    CALLBACK_PUBLIC_URL: publicUrlSchema
      .optional()
      .describe('Where the Payment Service reaches the callback port, if not at its own address.'),
    CALLBACK_SECRETS: secretsSchema(parseCallbackSecrets).meta({
      description:
        'What callback addresses are authenticated with: `kid:secret`, or two during a rotation, the one for new addresses first.',
      unset: madeAtFirstStart,
    }),
    CALLBACK_DAYS: wholeNumberSchema({ of: 'days', min: 30, max: 3_650 })
      .default(400)
      .describe(
        'Days from the creation of a payment or payout after which its callback address answers 410.',
      ),
    WEBHOOK_NETWORKS: networksSchema
      .optional()
      .describe(
        'Networks of our own that teams have receivers in, for example `10.20.0.0/16`; only public addresses are notified unless set.',
      ),
    PROVIDER_CALL_DEADLINE_MS: callDeadlineSchema,
    PROVIDER_SEND_WITHIN_MS: durationMs
      .default(5_000)
      .describe('How old an announced call may be when it is sent; the same in all processes.'),
    PROVIDER_QUIET_MS: durationMs
      .default(240_000)
      .describe(
        'How long the Payment Service may keep working on a request after our deadline. A process concludes that an announced call had no effect only after it has observed the announcement for this time and those of sending and answering. The same in all processes.',
      ),
    FINAL_INQUIRIES_AFTER_S: distancesSchema
      .prefault(inquiryDelays.settled.map((ms) => ms / 1_000).join(','))
      .describe(
        'Seconds after its last change at which what is final is inquired once more, because it may have been revised; `,` for never.',
      ),
    RECONCILE_AFTER_DAYS: daysSchema
      .prefault(reconciledAfterDaysDefault.join(','))
      .describe('Days after which a day is reconciled again; the day itself is, hourly.'),
    REVIEWS_BY_TWO: environmentsSchema
      .prefault('')
      .describe(
        'Environments in which it takes two persons to resolve a review, for example `production`; none unless set. The same in all processes.',
      ),
    WEBHOOK_RETENTION_DAYS: retentionDaysSchema.describe(
      'Days after which webhooks are let go of that were delivered or given up.',
    ),
    REQUEST_RETENTION_DAYS: retentionDaysSchema.describe(
      'Days that is kept for what became of requests of the API; without bodies.',
    ),
    REQUESTS_PER_TEAM_MAX: wholeNumberSchema({ of: 'requests', min: 100, max: 100_000_000 })
      .default(100_000)
      .describe('Requests of one team and environment that it is kept of at most; the oldest go first.'),
    CONSOLE_IDLE_MINUTES: wholeNumberSchema({ of: 'minutes', min: 1, max: 540 })
      .default(15)
      .describe(
        'Minutes without an action of its person after which a session of the console ends. Pages that refresh themselves do not count. The same in all processes.',
      ),
    TOLLGATE_LOG_LEVEL: logLevelSchema.default('warn').describe('What is logged, from this level on.'),
  })
  .refine((env) => (env.GATEWAY_TLS_CERT_FILE === undefined) === (env.GATEWAY_TLS_KEY_FILE === undefined), {
    path: ['GATEWAY_TLS_CERT_FILE'],
    message: 'and GATEWAY_TLS_KEY_FILE must be set both or not at all',
    when: always,
  })
  .refine((env) => env.GATEWAY_PLAIN_HTTP_PORT === undefined || env.GATEWAY_TLS_CERT_FILE !== undefined, {
    path: ['GATEWAY_PLAIN_HTTP_PORT'],
    message: 'refuses plain HTTP beside HTTPS, and so needs GATEWAY_TLS_CERT_FILE and GATEWAY_TLS_KEY_FILE',
    when: always,
  })
  .transform((env) => ({
    instance: env.TOLLGATE_INSTANCE,
    indexDir: env.TOLLGATE_INDEX_DIR,
    host: env.GATEWAY_HOST,
    gatewayPort: env.GATEWAY_PORT,
    callbackPort: env.CALLBACK_PORT,
    metrics: {
      host: env.GATEWAY_METRICS_HOST,
      port: env.GATEWAY_METRICS_PORT ?? (env.GATEWAY_PORT === 0 ? 0 : defaultMetricsPort),
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
    notifierShards: env.NOTIFIER_SHARDS,
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

/** The environment variables of the gateway. All have defaults that suit a developer's machine. */
export const gatewayConfigSchema = dataDirConfigSchema
  .and(ownSchema)
  .and(oidcEnvironmentSchema.transform(orFault((env) => ({ identityProvider: toOidcConfig(env) }))))
  .and(paymentServiceConfigSchema.transform((paymentService) => ({ paymentService })));

export type GatewayConfig = z.infer<typeof gatewayConfigSchema>;
