import { z } from 'zod';
import { StartupError } from './errors.ts';

/**
 * Reads configuration out of environment variables. An empty variable counts as not set.
 *
 * @throws StartupError whose message names each variable at fault; values are not repeated, they may be secrets.
 */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<Schema> {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  throw new StartupError(
    'config_invalid',
    `Set these environment variables right and start again: ${faults.join('; ')}.`,
  );
}

/** A TCP port; 0 takes any free one. */
export const portSchema = z.coerce
  .number('must be a port number from 0 to 65535')
  .int('must be a port number from 0 to 65535')
  .min(0, 'must be a port number from 0 to 65535')
  .max(65_535, 'must be a port number from 0 to 65535');
