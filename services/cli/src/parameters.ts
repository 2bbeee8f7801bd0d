/**
 * Parses the parameters of commands. Days are in UTC and instants name their zone, so results do not depend on the
 * machine's zone.
 */
import { currencySchema } from '@tollgate/core/money';
import { environmentSchema, walletNameSchema } from '@tollgate/core';
import { dayMs } from '@tollgate/service-kit';
import {
  InvalidParameter,
  argument,
  choice,
  optionOr,
  optionalArgument,
  requiredOption,
  text,
} from '@tollgate/service-kit/command-line';
import { operatorRoles, scopeSchema, scopes, teamNameSchema } from '@tollgate/teams';
import { z } from 'zod';

/** Accepts values of a schema; reports the schema's first message, or the given one. */
const matching =
  <Value>(schema: z.ZodType<Value, string>, message?: string) =>
  (text: string): Value => {
    const { data, error } = schema.safeParse(text);
    if (error !== undefined) throw new InvalidParameter(message ?? error.issues[0]?.message ?? 'is invalid');
    return data;
  };

const pattern = (expression: RegExp, message: string) => matching(z.string().regex(expression), message);

export const teamName = matching(teamNameSchema);
export const walletName = matching(walletNameSchema);
export const currency = matching(currencySchema, 'must be an ISO 4217 alphabetic code in capitals');
export const hash = pattern(/^[0-9a-f]{64}$/, 'must be a hash of 64 hexadecimal digits');

/** An amount in minor units. */
export const sumFrom =
  (min: number) =>
  (text: string): number => {
    const sum = /^\d+$/.test(text) ? Number(text) : NaN;
    if (Number.isSafeInteger(sum) && sum >= min) return sum;
    throw new InvalidParameter(`must be a whole number of minor units, at least ${min}`);
  };

export const items = (text: string): string[] => text.split(',').map((each) => each.trim());

export const scopeList = (text: string) => {
  const { data } = scopeSchema.array().safeParse([...new Set(items(text))]);
  if (data === undefined) throw new InvalidParameter(`must be some of ${scopes.join(', ')}`);
  return data;
};

/** For example `2026-11-23`. */
export const day = matching(z.iso.date(), 'must be an existing day, YYYY-MM-DD');

const instantSchema = z.union([
  z.iso.date(),
  z.iso.datetime({ offset: true }),
  // With minute precision.
  z.iso.datetime({ offset: true, precision: -1 }),
]);

/** For example `2026-11-23` or `2026-11-23T08:00Z`. @returns milliseconds since the Unix epoch */
export const instant = (text: string): number =>
  Date.parse(
    matching(
      instantSchema,
      'must be a day in UTC such as 2026-11-23, or a time with its zone such as 2026-11-23T08:00Z',
    )(text),
  );

export const days = (text: string): number => {
  const [, count] = /^(\d{1,4})d$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidParameter('must be a number of days such as 7d');
  return Number(count) * dayMs;
};

/** Relative to the time of the call. */
type AtCall = (now: number) => number;

const isDays = (text: string) => /^\d{1,4}d$/.test(text);

/** `90d`, or a day; the end of that day counts. */
export const expiry = (text: string): AtCall => {
  if (text !== '0d' && isDays(text)) return (now) => now + days(text);
  const end = Date.parse(day(text)) + dayMs;
  return () => end;
};

/** `7d`, or an instant. */
export const since = (text: string): AtCall => {
  if (isDays(text)) return (now) => now - days(text);
  const at = instant(text);
  return () => at;
};

export const gatewayOrigin = (text: string): string => {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidParameter('must be an http or https URL without a path');
};

/** Prefix of operating-system users, which `--as` cannot use. */
const systemUserPrefix = 'os:';

export const person = pattern(
  /^(?!os:)(?! )[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,128}(?<! )$/u,
  `must be a name or an e-mail address of 1 to 128 characters that does not begin with ${systemUserPrefix}`,
);

const environment = choice(environmentSchema.options);
export const environmentOf = (what: string) => requiredOption('environment', what, environment);
export const team = argument('team', 'name of the team', teamName);
export const optionalTeam = optionalArgument('team', 'name of the team', teamName);
export const account = requiredOption('name', 'merchant account', (text: string) => text);

export const grants = {
  role: requiredOption('role', `role of the person: ${operatorRoles.join(', ')}`, choice(operatorRoles)),
  teams: optionOr('teams', 'in which teams: names separated by commas, * for all', text, '*'),
  environments: optionOr('environments', 'in which environments: sandbox, production, * for both', text, '*'),
};
