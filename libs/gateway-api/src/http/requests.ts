/** The bodies of requests that are the gateway's own; the others are the specification's. */
import {
  containsCardNumber,
  createPaymentRequestSchema,
  isVisibleText,
  mustBeVisible,
} from '@tollgate/payment-api';
import { resolutionSchema } from '@tollgate/payment-domain';
import { z } from 'zod';
import { anyReviewCodes } from '../review.ts';

// The gateway sends the webhooks, so callbackUrl is optional (the specification does not show the Payment Service's own rule).
export const paymentRequestSchema = createPaymentRequestSchema.partial({ callbackUrl: true });
export type PaymentRequest = z.infer<typeof paymentRequestSchema>;

const reasonSchema = z
  .string('must be a string')
  .trim()
  .min(1, 'must not be empty')
  .max(1000, 'must be at most 1000 characters')
  .refine(isVisibleText, mustBeVisible)
  .refine((text) => !containsCardNumber(text), 'must not contain a card number');

export const resolutionRequestSchema = z.strictObject({
  code: z.enum(anyReviewCodes),
  /** Which review of this code: a resolution applies only to the review that the person has seen. */
  number: z.int('must be a whole number: take it from the list of reviews').min(1, 'must be at least 1'),
  resolution: resolutionSchema,
  /** Why, in the person's own words. It becomes part of the history. */
  reason: reasonSchema,
});

export const approvalRefusalSchema = z.strictObject({
  /** Why, in the person's own words. It becomes part of the history. */
  reason: reasonSchema,
});

export const replaySchema = z.strictObject({ id: z.string('must be a string').optional() }).optional();
