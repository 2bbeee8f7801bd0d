/** Answers of the routes of merchant accounts. */
import { environmentSchema } from '@tollgate/core';
import { z } from 'zod';
import { oneOf, showing } from '../public-object.ts';
import { instant } from '../values.ts';
import { answer } from './answer-parts.ts';
import { accountStates } from '@tollgate/accounts';

const state = oneOf(
  accountStates,
  '`draining`: no new payment and no new payout; `paused`: no call that moves money. Inquiries continue.',
);

const accountSchema = z.object({
  environment: z.enum(environmentSchema.options),
  account: z.string(),
  state,
  lastChange: z
    .object({ at: instant, by: z.string(), reason: z.string() })
    .exactOptional()
    .describe('The last change of the state; absent if it never changed.'),
  circuit: z.enum(['closed', 'open', 'half-open']),
  callsUnderWay: z.int().min(0),
  waiting: z.int().min(0),
  weight: z.int().min(1),
  priority: z.int().describe('Accounts with a lower priority are used first.'),
  callsPerSecondMax: z.int().min(1),
  concurrentCallsMax: z.int().min(1),
  inquiriesPerSecondMax: z.int().min(1),
  currencies: z.array(z.string()).exactOptional().describe('Absent: all.'),
  teams: z.array(z.string()).exactOptional().describe('Absent: all.'),
  oldestDueAt: instant.exactOptional().describe('Due time of the oldest due inquiry; absent if none is due.'),
});

export const toPublicAccount = showing(accountSchema);

const names = (description: string) => z.array(z.string()).describe(`${description}, as environment/name.`);

export const accountAnswerSchemas = {
  AccountList: answer({
    accounts: z.array(accountSchema),
    hasFile: z.boolean().describe('True if the accounts file can be reloaded.'),
    fileFault: z
      .string()
      .exactOptional()
      .describe('Why the answering process rejected the file at the last reload.'),
  }),
  ChangedAccount: answer({ ...accountSchema.pick({ environment: true, account: true, state: true }).shape }),
  ReloadedAccounts: answer({
    added: names('New accounts'),
    changed: names('Changed accounts'),
    removed: names('Removed accounts'),
  }),
} as const satisfies Record<string, z.ZodType>;
