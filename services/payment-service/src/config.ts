import { join } from 'node:path';
import { logLevelSchema, portSchema } from '@tollgate/service-kit';
import { z } from 'zod';

/** The two environments of the service, with separate data and keys. A running service serves one of them. */
export const environments = ['sandbox', 'production'] as const;
export type Environment = (typeof environments)[number];

const hostNameRule = 'must be host names or IP addresses, separated by commas';
const hostNamesSchema = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.union([z.hostname(), z.ipv4(), z.ipv6()], hostNameRule)));

/** The environment variables of this service. All defaults suit a developer's machine. */
export const paymentServiceConfigSchema = z
  .object({
    PAYMENT_SERVICE_ENVIRONMENT: z
      .enum(environments, 'must be sandbox or production')
      .default('sandbox')
      .describe('Environment of the sandbox.'),
    PAYMENT_SERVICE_HOST: z.string().default('127.0.0.1').describe('Listen address of both servers.'),
    PAYMENT_SERVICE_HTTPS_PORT: portSchema
      .default(4443)
      .describe("Port of the sandbox's API. 0 uses any free port."),
    PAYMENT_SERVICE_HTTP_PORT: portSchema
      .default(4080)
      .describe('Port that rejects plain HTTP. 0 uses any free port.'),
    PAYMENT_SERVICE_HOST_NAMES: hostNamesSchema
      .default([])
      .describe("Additional host names and addresses in the server's certificate."),
    TOLLGATE_DATA_DIR: z
      .string()
      .default('.data')
      .describe('Folder of the database, the certificates and, if the service runs alone, its demo key.'),
    TOLLGATE_LOG_LEVEL: logLevelSchema.default('info').describe('Minimum log level.'),
  })
  .transform((env) => ({
    environment: env.PAYMENT_SERVICE_ENVIRONMENT,
    host: env.PAYMENT_SERVICE_HOST,
    hostNames: env.PAYMENT_SERVICE_HOST_NAMES,
    httpsPort: env.PAYMENT_SERVICE_HTTPS_PORT,
    httpPort: env.PAYMENT_SERVICE_HTTP_PORT,
    dataDir: env.TOLLGATE_DATA_DIR,
    logLevel: env.TOLLGATE_LOG_LEVEL,
  }));

type Env = z.infer<typeof paymentServiceConfigSchema>;

/** A value of 0 for `httpsPort` or `httpPort` selects any free port. `environment` defaults to the sandbox. */
export type PaymentServiceConfig = Omit<Env, 'logLevel' | 'environment' | 'hostNames'> &
  Partial<Pick<Env, 'environment' | 'hostNames'>>;

/** Each environment has its own file, so that no query can mix them. */
export const databaseFileOf = (dataDir: string, environment: Environment): string =>
  join(dataDir, environment === 'sandbox' ? 'payment-service.db' : 'payment-service-production.db');
