/**
 * A recurring token of the service behind our alias (stream `recurring-<alias>`): a team charges the alias, and
 * the charge goes to the account that took the first payment. The service's token is never handed out.
 */
import { z } from 'zod';
import { environmentSchema } from './values.ts';

export const recurringTokenStoredSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  account: z.string(),
  /** The service's token, encrypted: it charges the card again. */
  sealedRecurringToken: z.string(),
  /** The payment that it was taken with. */
  paymentToken: z.string(),
});
export type StoredRecurringToken = z.infer<typeof recurringTokenStoredSchema>;

export const recurringTokenStored = 'RecurringTokenStored';
export const recurringStream = (alias: string): string => `recurring-${alias}`;

/** Authenticated with the encrypted token: an owner that is edited in the store cannot charge the card. */
export const recurringTokenContext = (
  stream: string,
  { environment, team, account, paymentToken }: Omit<StoredRecurringToken, 'sealedRecurringToken'>,
): string => JSON.stringify([stream, environment, team, account, paymentToken]);
