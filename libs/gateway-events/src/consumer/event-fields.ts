/** Fields that the data of several events have, as the topics show them. */
import { amountSchema, apiErrorSchema } from '@tollgate/payment-api/values';
import { z } from 'zod';

/** A value out of a list that may grow: a consumer must bear one that it does not know. */
export const oneOf = (values: readonly string[], description?: string) =>
  z.string().meta({
    description: `${description === undefined ? '' : `${description} `}So far: ${values.map((value) => `\`${value}\``).join(', ')}; more may come.`,
  });

export const instantSchema = z.iso.datetime().describe('ISO 8601 in UTC.');
export const amountField = amountSchema.describe('Minor units: 1250 is 12.50 EUR.');

export const reason = z.string();
export const errors = z.array(apiErrorSchema).describe('What the Payment Service said.');
export const sendBy = instantSchema.describe('The call is made before this instant, or never.');
export const declineReason = z.string().optional();
export const evidenceSource = oneOf(
  ['answer', 'inquiry'],
  "How it is known: by the call's own answer, or by a later look.",
);

export const reviewOpened = (codes: readonly string[]) =>
  z.object({
    code: oneOf(codes, 'Why a person is needed.'),
    evidence: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .describe('What it was found by; tokens of the Payment Service are masked.'),
  });

export const reviewResolved = (codes: readonly string[]) =>
  z.object({
    code: oneOf(codes, 'What a person was needed for.'),
    number: z
      .int()
      .min(1)
      .optional()
      .describe('Which one of them, counted over the life of it; absent where all of this code ended.'),
    resolution: z.string().describe('How it ended.'),
    reason: z.string().describe('Why, in the words of whoever ended it.'),
  });
