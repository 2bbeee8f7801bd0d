/**
 * `gateway.payments.v1`: every event of every payment, its refunds among them, keyed by payment token, in the payment's
 * order, each once. A record holds the event and the payment as it stood after it, so a consumer needs no other call.
 */
import {
  amountSchema,
  apiErrorSchema,
  currencySchema,
  paymentStatusSchema,
} from '@tollgate/payment-api/values';
import { z } from 'zod';
import type { EncodedRecord } from './callback-records.ts';
import {
  type DecodedRecord,
  type RecordOrigin,
  decodeEventRecord,
  encodeEventRecord,
  eventOnTopicSchema,
} from './record-format.ts';

export const gatewayPaymentsTopic = 'gateway.payments.v1';

/** A refund as the record of its payment shows it. */
export const recordedRefundSchema = z.object({
  token: z.string(),
  amount: amountSchema,
  status: z.enum(['pending', 'approved', 'declined']),
  phase: z.string(),
});

/** A payment as a record shows it. */
export const recordedPaymentSchema = z.object({
  token: z.string(),
  environment: z.string(),
  team: z.string(),
  status: paymentStatusSchema,
  phase: z.string(),
  product: z.string(),
  amount: amountSchema,
  currency: currencySchema,
  orderNumber: z.string().optional(),
  needConfirmation: z.boolean(),
  heldAmount: z.int(),
  approvedAmount: z.int(),
  refundedAmount: z.int(),
  refunds: z.array(recordedRefundSchema),
  /** What later payments of this customer are charged with: the alias that was issued, or the one that was charged. */
  recurringToken: z.string().optional(),
  sanitizedMask: z.string().optional(),
  declineReason: z.string().optional(),
  errors: z.array(apiErrorSchema),
  reviews: z.array(z.object({ code: z.string() })),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type RecordedPayment = z.infer<typeof recordedPaymentSchema>;

/** Version 1 of a record's value. */
export const paymentRecordSchema = z.object({ event: eventOnTopicSchema, payment: recordedPaymentSchema });
export type PaymentRecord = z.infer<typeof paymentRecordSchema>;

export const encodePaymentRecord = (record: PaymentRecord, origin: RecordOrigin): EncodedRecord =>
  encodeEventRecord(record, { subject: 'payment', token: record.payment.token, origin });

export type DecodedPaymentRecord = DecodedRecord<PaymentRecord>;

/** One call for consumers. Never throws; unknown fields, which later versions may add, are left out. */
export const decodePaymentRecord = (encoded: EncodedRecord): DecodedPaymentRecord =>
  decodeEventRecord(paymentRecordSchema, encoded);
