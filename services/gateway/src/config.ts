import { paymentServiceConfigSchema } from '@tollgate/payment-service';
import { logLevels, portSchema } from '@tollgate/service-kit';
import { z } from 'zod';

const durationMs = z.coerce.number('must be a number of milliseconds').int().min(1).max(86_400_000);

/** The environment variables of the gateway. All have defaults that suit a developer's machine. */
export const gatewayConfigSchema = z
  .object({
    /** Folder of everything durable. */
    TOLLGATE_DATA_DIR: z.string().default('.data'),
    /** Address that the API and the callbacks listen on; loopback unless set. */
    GATEWAY_HOST: z.string().default('127.0.0.1'),
    GATEWAY_PORT: portSchema.default(3000),
    CALLBACK_PORT: portSchema.default(3001),
    /** Where the Payment Service reaches the callback port, if not at its own address. */
    CALLBACK_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
    /** `kid:secret`, or two of them separated by a comma; made at the first start where it is not set. */
    CALLBACK_SECRETS: z.string().optional(),
    /** How long one call of the Payment Service may take. */
    PROVIDER_CALL_DEADLINE_MS: durationMs.default(10_000),
    /** How long an announced call may wait before it is sent. */
    PROVIDER_SEND_WITHIN_MS: durationMs.default(5_000),
    /** How long the Payment Service may go on working on a request that we have given up on. */
    PROVIDER_QUIET_MS: durationMs.default(30_000),
    TOLLGATE_LOG_LEVEL: z.enum(logLevels).default('warn'),
  })
  .transform((env) => ({
    dataDir: env.TOLLGATE_DATA_DIR,
    host: env.GATEWAY_HOST,
    gatewayPort: env.GATEWAY_PORT,
    callbackPort: env.CALLBACK_PORT,
    callbackPublicUrl: env.CALLBACK_PUBLIC_URL,
    callbackSecrets: env.CALLBACK_SECRETS,
    times: {
      sendWithinMs: env.PROVIDER_SEND_WITHIN_MS,
      callDeadlineMs: env.PROVIDER_CALL_DEADLINE_MS,
      quietMs: env.PROVIDER_QUIET_MS,
    },
    logLevel: env.TOLLGATE_LOG_LEVEL,
  }))
  .and(
    z
      .object({})
      .loose()
      .transform((env) => ({ paymentService: paymentServiceConfigSchema.parse(env) })),
  );

export type GatewayConfig = z.infer<typeof gatewayConfigSchema>;
