/** The values of the specification that need no I/O: what the domain may import. */
import { z } from 'zod';
import { isCurrency } from './currencies.ts';

export { formatAmount, minorUnitDigits } from './currencies.ts';
export { containsCardNumber, maskCardNumber, maskedText } from './card-number.ts';

/** Of what people write: without what a reader does not see, or sees in another order or on another line. */
export const isVisibleText = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_C}]/u.test(text);
/** A text of others as a reader may see it: on one line, and with a sign in place of what is invisible. */
export const toVisibleText = (text: string): string =>
  text.replace(/[\t\r\n\p{Zl}\p{Zp}]+/gu, ' ').replace(/[\p{Cc}\p{Cs}\p{Bidi_C}]/gu, '\ufffd');
/** {@link isVisibleText} for JSON Schema, whose readers do not all know classes by name; half of a character is no JSON anyway. */
export const visibleTextPattern = String.raw`^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$`;
export const mustBeVisible =
  'must be without control characters, line breaks and characters that change the direction of writing';

/** The six states of a payment (specification, section 3). */
export const paymentStatuses = ['init', 'pending', 'approved', 'declined', 'refunded', 'expired'] as const;
export const paymentStatusSchema = z.enum(paymentStatuses);
export type PaymentStatus = z.infer<typeof paymentStatusSchema>;

/** States that the specification marks as final (section 3). */
export const isFinalStatus = (status: PaymentStatus): boolean => status !== 'init' && status !== 'pending';

/** Distinguishes a missing field from a wrong one. */
export const orMissing = (message: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? 'is missing' : message),
});

/** An amount in minor units: a safe integer of at least 1 (section 2). */
export const amountSchema = z
  .int(orMissing('must be an integer in minor units'))
  .min(1, 'must be at least 1');

/** ISO 4217 alphabetic code in capitals (section 2, "alphabetic code"). */
export const currencySchema = z
  .string(orMissing('must be an ISO 4217 alphabetic code in capitals, for example EUR'))
  .refine(isCurrency, 'must be an ISO 4217 alphabetic code in capitals, for example EUR');

/** The kinds of error of section 7, and those that known deployments add. */
export type SpecifiedErrorKind =
  'api_error' | 'authentication_error' | 'invalid_request_error' | 'processing_error';

/** One entry of an error answer (section 7). `parameter` names the request field at fault, where there is one. */
export const apiErrorSchema = z.object({
  code: z.string(),
  kind: z.string(),
  message: z.string().optional(),
  parameter: z.string().optional(),
});
export type ApiError = z.infer<typeof apiErrorSchema>;
