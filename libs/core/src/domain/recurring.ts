/**
 * A recurring token of the provider behind our alias (stream `recurring-<alias>`): a team charges the alias, through the
 * account of the first payment. The provider's token is never handed out.
 */
import { z } from 'zod';
import { environmentSchema } from './values.ts';

export const recurringTokenStoredSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  account: z.string(),
  /** The provider's token, encrypted: it charges the card again. */
  sealedRecurringToken: z.string(),
  /** The payment that issued it. */
  paymentToken: z.string(),
});
export type StoredRecurringToken = z.infer<typeof recurringTokenStoredSchema>;

export const recurringTokenStored = 'RecurringTokenStored';
export const recurringStream = (alias: string): string => `recurring-${alias}`;

/** Authenticated with the encrypted token: an owner edited in the store cannot charge the card. */
export const recurringTokenContext = (
  stream: string,
  { environment, team, account, paymentToken }: Omit<StoredRecurringToken, 'sealedRecurringToken'>,
): string => JSON.stringify([stream, environment, team, account, paymentToken]);
