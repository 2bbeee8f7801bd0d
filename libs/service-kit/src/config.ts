import { z } from 'zod';
import { StartupError } from './errors.ts';
import { Secret } from './secret.ts';

/**
 * Reads configuration from environment variables, all checked together. An empty variable counts as not set.
 *
 * @throws StartupError with each invalid variable, without values: they may be secrets
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
  const faults = result.error.issues.map(({ path: [variable = ''], message }) =>
    message.startsWith(`${String(variable)} `) ? message : `${String(variable)} ${message}`.trim(),
  );
  throw new StartupError(
    'config_invalid',
    // A variable that two programs read in one process is checked by both.
    `Correct these environment variables and start again: ${[...new Set(faults)].join('; ')}.`,
  );
}

/** For `transform`: a StartupError of `read` is reported together with the faults of other variables. */
export const orFault =
  <Env, Read>(read: (env: Env) => Read) =>
  (env: Env, context: z.RefinementCtx): Read => {
    try {
      return read(env);
    } catch (error) {
      if (!(error instanceof StartupError)) throw error;
      context.addIssue({ code: 'custom', message: error.message.replace(/\.$/, '') });
      return z.NEVER;
    }
  };

/** False if unset. */
export const booleanSchema = z
  .stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive', error: 'must be true or false' })
  .default(false);

/** Unset or secret. */
export const secretSchema = z
  .string()
  .transform((text) => new Secret(text))
  .optional();

/** For a variable at fault. @param what a sentence that begins with it, without its period */
export const wrongVariable = (what: string) => new StartupError('config_invalid', `${what}.`);

/** A whole number of something, within bounds that a refusal names. */
export function wholeNumberSchema({ of, min, max }: { of: string; min: number; max: number }) {
  return decimalSchema(`must be a whole number of ${of} from ${min} to ${max}`, min, max);
}

/** Digits only: other numbers in JavaScript (`0x1F90`, `1e4`, a space) are typing errors here. */
const decimalSchema = (rule: string, min: number, max: number) =>
  z
    .string(rule)
    .regex(/^\d{1,15}$/, rule)
    .transform(Number)
    .pipe(z.number().min(min, rule).max(max, rule));

/** A TCP port; 0 takes any free one. */
export const portSchema = decimalSchema('must be a port number from 0 to 65535', 0, 65_535);

/** Texts separated by commas; spaces around them and empty ones do not count. */
export const commaSeparatedSchema = z.string().transform((text) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== ''),
);
