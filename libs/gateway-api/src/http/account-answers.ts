/** What the routes of the merchant accounts answer. */
import { accountStates, environmentSchema } from '@tollgate/core';
import { z } from 'zod';
import { oneOf } from '../public-object.ts';
import { instant } from '../values.ts';

const success = z.literal(true);

const state = oneOf(
  accountStates,
  '`draining`: no new payment and no new payout; `paused`: no call that moves money. Inquiries go on.',
);

const accountSchema = z.object({
  environment: z.enum(environmentSchema.options),
  account: z.string(),
  state,
  lastChange: z
    .object({ at: instant, by: z.string(), reason: z.string() })
    .exactOptional()
    .describe('Of the state; absent: never.'),
  circuit: z.enum(['closed', 'open', 'half-open']),
  callsUnderWay: z.int().min(0),
  waiting: z.int().min(0),
  weight: z.int().min(1),
  priority: z.int().describe('Lower ones are asked first.'),
  callsPerSecondMax: z.int().min(1),
  concurrentCallsMax: z.int().min(1),
  inquiriesPerSecondMax: z.int().min(1),
  totalPerSecondMax: z.int().min(1).exactOptional().describe('Calls and inquiries together.'),
  currencies: z.array(z.string()).exactOptional().describe('Absent: all.'),
  teams: z.array(z.string()).exactOptional().describe('Absent: all.'),
  oldestDueAt: instant
    .exactOptional()
    .describe('Since when the inquiry has been due that waits longest; absent: none is due.'),
});

const names = (description: string) => z.array(z.string()).describe(`${description}, as environment/name.`);

export const accountAnswerSchemas = {
  AccountList: z.object({
    success,
    accounts: z.array(accountSchema),
    hasFile: z.boolean().describe('Whether there is an accounts file that can be read again.'),
    fileFault: z
      .string()
      .exactOptional()
      .describe('Why the process that answers could not use the file when it was to be read again.'),
  }),
  ChangedAccount: z.object({
    success,
    ...accountSchema.pick({ environment: true, account: true, state: true }).shape,
  }),
  ReloadedAccounts: z.object({
    success,
    added: names('Accounts that are new'),
    changed: names('Those with other terms'),
    removed: names('Those that are gone'),
  }),
} as const satisfies Record<string, z.ZodType>;
