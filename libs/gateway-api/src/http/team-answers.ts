/** Answers of the routes of teams and keys. */
import { environmentSchema, limitedOperations } from '@tollgate/core';
import { z } from 'zod';
import { oneOf, showing } from '../public-object.ts';
import { instant } from '../values.ts';
import { answer, pageOf } from './answer-parts.ts';

const environment = z.enum(environmentSchema.options);
const isChangeable = z.boolean().describe('True if this gateway has the signing key for changes of teams.');

const keyStates = ['active', 'expired', 'revoked'] as const;

const keySchema = z.object({
  team: z.string(),
  keyId: z.string(),
  environment,
  scopes: z.array(z.string()),
  state: oneOf(keyStates, 'Only an active key is accepted.'),
  expiresAt: instant.exactOptional(),
  networks: z
    .array(z.string())
    .exactOptional()
    .describe('Networks from which it may be used; all if absent.'),
  requestsPerSecondMax: z.int().min(1).exactOptional(),
  lastUsedAt: instant.exactOptional().describe('Hour of the last use; absent if it was never used.'),
});
export type PublicKey = z.infer<typeof keySchema>;
export const toPublicKey = showing(keySchema);

const limitSchema = z.object({
  environment,
  operation: z.enum(limitedOperations),
  currency: z.string(),
  keyId: z.string().exactOptional().describe('The limited key; the whole team if absent.'),
  perCall: z.int().min(1).exactOptional().describe('Minor units.'),
  perDay: z.int().min(1).exactOptional().describe('Maximum of a day in UTC, in minor units.'),
});

export const teamAnswerSchemas = {
  KeyList: pageOf({ keys: z.array(keySchema), isChangeable }),
  TeamDetails: answer({
    team: z.object({
      name: z.string(),
      callbackOrigins: z.array(z.string()).describe('Allowed origins of webhook URLs.'),
      redirectOrigins: z
        .array(z.string())
        .exactOptional()
        .describe('Allowed origins of redirect URLs; any https URL if absent.'),
      wallet: z.object({ kind: z.enum(['own', 'shared', 'provider']), name: z.string().exactOptional() }),
      approvals: z
        .array(z.object({ environment, currency: z.string(), above: z.int().min(0) }))
        .describe('Amount in minor units above which payouts need approval.'),
      limits: z.array(limitSchema),
    }),
    isChangeable,
  }),
  ChangedTeam: answer({ team: z.string() }),
  IssuedKey: answer({
    team: z.string(),
    keyId: z.string(),
    key: z.string().describe('Store it now: the gateway keeps only its hash.'),
  }),
} as const satisfies Record<string, z.ZodType>;
