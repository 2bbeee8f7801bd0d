/** Requests of operators that change teams and keys. */
import { currencySchema } from '@tollgate/core/money';
import { environmentSchema, limitedOperations, walletNameSchema } from '@tollgate/core';
import { networksMax, requestsPerSecondSchema, scopeSchema, scopes, teamNameSchema } from '@tollgate/teams';
import { z } from 'zod';
import { originPurposes, originsMax } from '@tollgate/service-kit';
import { instantSchema } from './queries.ts';
import { holdsNoCardNumber, mustHoldNoCardNumber } from './kept-text.ts';

const scopeRule = `must be a list of ${scopes.join(', ')}, each once`;

export const scopeNameSchema = z.enum(scopeSchema.options, scopeRule);

const minorUnits = (min: number) => {
  const rule = `must be a whole number of minor units of at least ${min}, or null`;
  return z.int(rule).min(min, rule).nullable();
};

/** By their names in the OpenAPI document. */
export const teamBodySchemas = {
  TeamRequest: z.strictObject({ team: teamNameSchema }),
  KeyRequest: z.strictObject({
    team: teamNameSchema,
    environment: environmentSchema,
    scopes: z
      .array(scopeNameSchema, scopeRule)
      .min(1, scopeRule)
      .max(scopes.length, scopeRule)
      .refine((all) => new Set(all).size === all.length, scopeRule)
      .meta({ uniqueItems: true }),
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
  }),
  KeyRevocation: z.strictObject({ team: teamNameSchema }),
  AllowedOrigins: z.strictObject({
    purpose: z.enum(originPurposes, `must be ${originPurposes.join(' or ')}`),
    /** Replaces the previous list. */
    origins: z
      .array(
        z
          .string('must be a text')
          .max(300, 'must be at most 300 characters')
          .refine(holdsNoCardNumber, mustHoldNoCardNumber),
        'must be a list of origins',
      )
      .max(originsMax, `must be at most ${originsMax} origins`),
  }),
  WalletChoice: z.strictObject({
    wallet: z
      .strictObject({
        kind: z.enum(['own', 'shared', 'provider'], 'must be own, shared or provider'),
        name: walletNameSchema.optional(),
      })
      .transform(({ kind, name }, context) => {
        if (kind !== 'shared' && name === undefined) return { kind };
        if (kind === 'shared' && name !== undefined) return { kind, name };
        context.addIssue({
          code: 'custom',
          path: ['name'],
          message: 'must be given for a shared wallet only',
        });
        return z.NEVER;
      }),
  }),
  ApprovalRule: z.strictObject({
    environment: environmentSchema,
    currency: currencySchema,
    /** Null: no payout waits. */
    above: minorUnits(0),
  }),
  /** Both sums are required: an omitted one must not lift a limit. */
  LimitRequest: z.strictObject({
    environment: environmentSchema,
    operation: z.enum(limitedOperations, `must be one of ${limitedOperations.join(', ')}`),
    currency: currencySchema,
    keyId: z.string('must be a text').max(64, 'must be at most 64 characters').optional(),
    /** Null: not limited. */
    perCall: minorUnits(1),
    perDay: minorUnits(1),
  }),
} as const;
