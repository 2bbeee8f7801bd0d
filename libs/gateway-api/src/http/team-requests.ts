/** What people who operate the gateway ask for to change teams and their keys. */
import { environmentSchema } from '@tollgate/payment-domain';
import { networksMax, requestsPerSecondSchema, scopeSchema, scopes, teamNameSchema } from '@tollgate/teams';
import { z } from 'zod';
import { instantSchema } from './queries.ts';

const scopeRule = `must be a list of ${scopes.join(', ')}, each once`;

export const newTeamSchema = z.strictObject({ team: teamNameSchema });

export const newKeySchema = z.strictObject({
  team: teamNameSchema,
  environment: environmentSchema,
  scopes: z
    .array(z.enum(scopeSchema.options, scopeRule), scopeRule)
    .min(1, scopeRule)
    .max(scopes.length, scopeRule)
    .refine((all) => new Set(all).size === all.length, scopeRule),
  expiresAt: instantSchema.optional(),
  networks: z
    .array(z.string('must be a text'), 'must be a list of networks such as 10.20.0.0/16')
    .min(1, 'must not be empty')
    .max(networksMax, `must be at most ${networksMax} networks`)
    .optional(),
  requestsPerSecondMax: requestsPerSecondSchema.optional(),
  keyId: z
    .string('must be a text')
    .regex(/^[0-9a-f]{12}$/, 'must be 12 hexadecimal digits in lower case')
    .optional(),
});

export const keyRevocationSchema = z.strictObject({ team: teamNameSchema });
