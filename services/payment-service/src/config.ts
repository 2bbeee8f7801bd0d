import { logLevels, portSchema } from '@tollgate/service-kit';
import { z } from 'zod';

/** The environment variables of this service. All have defaults that suit a developer's machine. */
export const paymentServiceConfigSchema = z
  .object({
    /** Address that both servers listen on; loopback unless set. */
    PAYMENT_SERVICE_HOST: z.string().default('127.0.0.1'),
    PAYMENT_SERVICE_HTTPS_PORT: portSchema.default(4443),
    PAYMENT_SERVICE_HTTP_PORT: portSchema.default(4080),
    /** Folder of the database, the certificates and, where the service runs alone, its demo key. */
    TOLLGATE_DATA_DIR: z.string().default('.data'),
    TOLLGATE_LOG_LEVEL: z.enum(logLevels).default('info'),
  })
  .transform((env) => ({
    host: env.PAYMENT_SERVICE_HOST,
    httpsPort: env.PAYMENT_SERVICE_HTTPS_PORT,
    httpPort: env.PAYMENT_SERVICE_HTTP_PORT,
    dataDir: env.TOLLGATE_DATA_DIR,
    logLevel: env.TOLLGATE_LOG_LEVEL,
  }));

/** `httpsPort` and `httpPort` may be 0, which takes any free port. */
export type PaymentServiceConfig = Omit<z.infer<typeof paymentServiceConfigSchema>, 'logLevel'>;
