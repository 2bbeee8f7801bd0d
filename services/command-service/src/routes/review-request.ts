import { containsCardNumber } from '@tollgate/payment-api';
import { reviewCodes, payoutReviewCodes, resolutionSchema } from '@tollgate/payment-domain';
import { z } from 'zod';
import { type Parsed, parseBody } from './parsed.ts';

export const resolutionRequestSchema = z.strictObject({
  code: z.enum([...new Set([...reviewCodes, ...payoutReviewCodes])]),
  /** Which of those with this code: a person's word counts for what that person has seen. */
  number: z.int('must be a whole number: take it from the list of attention').min(1, 'must be at least 1'),
  resolution: resolutionSchema,
  /** Why, in the person's own words; it is part of the history. */
  reason: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(1000, 'must be at most 1000 characters')
    .refine((text) => !containsCardNumber(text), 'must not hold a card number'),
});
export type ResolutionRequest = z.infer<typeof resolutionRequestSchema>;

export const parseResolution = (body: unknown): Parsed<ResolutionRequest> =>
  parseBody(resolutionRequestSchema, body);
