import { logLevelSchema, portSchema } from '@tollgate/service-kit';
import { z } from 'zod';

const hostNameRule = 'must be host names or IP addresses, separated by commas';
const hostNamesSchema = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.union([z.hostname(), z.ipv4(), z.ipv6()], hostNameRule)));

/** The environment variables of this service. All defaults suit a developer's machine. */
export const paymentServiceConfigSchema = z
  .object({
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
    host: env.PAYMENT_SERVICE_HOST,
    hostNames: env.PAYMENT_SERVICE_HOST_NAMES,
    httpsPort: env.PAYMENT_SERVICE_HTTPS_PORT,
    httpPort: env.PAYMENT_SERVICE_HTTP_PORT,
    dataDir: env.TOLLGATE_DATA_DIR,
    logLevel: env.TOLLGATE_LOG_LEVEL,
  }));

/** Where its two servers listen. */
export function sandboxAddresses({ host, httpsPort, httpPort }: PaymentServiceConfig) {
  const at = { host, hostVariable: 'PAYMENT_SERVICE_HOST' };
  return {
    https: { ...at, port: httpsPort, variable: 'PAYMENT_SERVICE_HTTPS_PORT' },
    http: { ...at, port: httpPort, variable: 'PAYMENT_SERVICE_HTTP_PORT' },
  };
}

type Env = z.infer<typeof paymentServiceConfigSchema>;

/** A value of 0 for `httpsPort` or `httpPort` selects any free port. */
export type PaymentServiceConfig = Omit<Env, 'logLevel' | 'hostNames'> & Partial<Pick<Env, 'hostNames'>>;
