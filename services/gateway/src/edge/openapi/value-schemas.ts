/** Values that several answers hold, as teams read them. */
import { currencySchema } from '@tollgate/payment-api';
import type { PublicDestination, PublicError } from '@tollgate/views';
import { z } from 'zod';

export const amountShownSchema = z
  .int()
  .min(0)
  .meta({ description: 'Minor units.', examples: [1250] });

export const instantShownSchema = z.iso
  .datetime()
  .meta({ description: 'ISO 8601 in UTC.', examples: ['2026-03-01T12:00:00.000Z'] });

export const evidenceShownSchema = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .describe('What it was found by; tokens of the Payment Service are masked.');

export const errorShownSchema = z.strictObject({
  code: z.string(),
  kind: z.string(),
  message: z.string().exactOptional(),
  parameter: z.string().exactOptional(),
}) satisfies z.ZodType<PublicError>;

export const destinationSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('card'), sanitizedMask: z.string() }),
  z.strictObject({ kind: z.literal('recurring'), recurringToken: z.string() }),
  z.strictObject({ kind: z.literal('bankAccount'), bankName: z.string(), accountEnding: z.string() }),
]) satisfies z.ZodType<PublicDestination>;

/** What a team asked for when it created a payment, without what it told about its customer. */
export const termsShown = {
  product: z.string(),
  amount: amountShownSchema,
  currency: currencySchema,
  orderNumber: z.string().exactOptional(),
  callbackUrl: z.string().exactOptional(),
  redirectSuccessUrl: z.string().exactOptional(),
  redirectFailUrl: z.string().exactOptional(),
  locale: z.string().exactOptional(),
  recurring: z.boolean().exactOptional().describe('True where a recurring token was asked for.'),
  recurringToken: z
    .string()
    .exactOptional()
    .describe('What later payments of this customer are charged with.'),
  needConfirmation: z.boolean(),
};
