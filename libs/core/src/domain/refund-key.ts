/**
 * The first use of a refund's idempotency key (stream `refund-<refund token>`). The refund itself is part of its
 * payment; this distinguishes a replay from another request under the same key, whichever payment it names.
 */
import { z } from 'zod';
import { environmentSchema } from './values.ts';

export const refundKeyUsedSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  paymentToken: z.string(),
  /** Keyed hash over the validated request, `<kid>.<mac>`. */
  fingerprint: z.string(),
});
export type RefundKey = z.infer<typeof refundKeyUsedSchema>;

export const refundKeyUsed = 'RefundKeyUsed';
export const refundKeyStream = (refundToken: string): string => `refund-${refundToken}`;
