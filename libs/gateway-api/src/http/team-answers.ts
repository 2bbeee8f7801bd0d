/** What the routes of teams and keys answer. */
import { environmentSchema, limitedOperations } from '@tollgate/core';
import { z } from 'zod';
import { oneOf } from '../public-object.ts';
import { instant } from '../values.ts';

const success = z.literal(true);
const environment = z.enum(environmentSchema.options);
const isChangeable = z
  .boolean()
  .describe('Whether this gateway has the key that changes of teams are signed with.');

const keyStates = ['active', 'expired', 'revoked'] as const;

const keySchema = z.object({
  team: z.string(),
  keyId: z.string(),
  environment,
  scopes: z.array(z.string()),
  state: oneOf(keyStates, 'Only an active one opens anything.'),
  expiresAt: instant.exactOptional(),
  networks: z.array(z.string()).exactOptional().describe('From where it may be used; absent: everywhere.'),
  requestsPerSecondMax: z.int().min(1).exactOptional(),
  lastUsedAt: instant.exactOptional().describe('The beginning of the hour; absent: never.'),
});
export type PublicKey = z.infer<typeof keySchema>;

const limitSchema = z.object({
  environment,
  operation: z.enum(limitedOperations),
  currency: z.string(),
  keyId: z.string().exactOptional().describe('Absent: of all keys of the team together.'),
  perCall: z.int().min(1).exactOptional().describe('Minor units.'),
  perDay: z.int().min(1).exactOptional().describe('Minor units, of a day in UTC.'),
});

export const teamAnswerSchemas = {
  KeyList: z.object({
    success,
    keys: z.array(keySchema),
    isChangeable,
    perPage: z.int().min(1),
    nextCursor: z.string().exactOptional(),
  }),
  TeamDetails: z.object({
    success,
    team: z.object({
      name: z.string(),
      callbackOrigins: z.array(z.string()).describe('Where its webhooks may go.'),
      redirectOrigins: z
        .array(z.string())
        .exactOptional()
        .describe('Where customers may be sent; absent: to any https URL.'),
      wallet: z.object({ kind: z.enum(['own', 'shared', 'provider']), name: z.string().exactOptional() }),
      approvals: z
        .array(z.object({ environment, currency: z.string(), above: z.int().min(0) }))
        .describe('Above which sum, in minor units, a second key approves payouts.'),
      limits: z.array(limitSchema),
    }),
    isChangeable,
  }),
  ChangedTeam: z.object({ success, team: z.string() }),
  IssuedKey: z.object({
    success,
    team: z.string(),
    keyId: z.string(),
    key: z.string().describe('Keep it now: only its hash is stored.'),
  }),
} as const satisfies Record<string, z.ZodType>;
