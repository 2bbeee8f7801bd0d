/**
 * `gateway.payouts.v1`: every event of every payout, keyed by payout token, in the payout's order, each once. A record
 * holds the event and the payout as it stood after it.
 */
import { amountSchema, apiErrorSchema, currencySchema } from '@tollgate/payment-api/values';
import { z } from 'zod';
import type { EncodedRecord } from './callback-records.ts';
import {
  type DecodedRecord,
  type RecordOrigin,
  decodeEventRecord,
  encodeEventRecord,
  eventOnTopicSchema,
} from './record-format.ts';

export const gatewayPayoutsTopic = 'gateway.payouts.v1';

/** Where the money goes; tells people which card or account it was, and pays to none. */
export const recordedDestinationSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('card'), sanitizedMask: z.string() }),
  z.object({ kind: z.literal('recurring'), recurringToken: z.string() }),
  z.object({ kind: z.literal('bankAccount'), bankName: z.string(), accountEnding: z.string() }),
]);

/** A payout as a record shows it. */
export const recordedPayoutSchema = z.object({
  token: z.string(),
  environment: z.string(),
  team: z.string(),
  status: z.enum(['pending', 'approved', 'declined']),
  phase: z.string(),
  amount: amountSchema,
  currency: currencySchema,
  orderNumber: z.string(),
  destination: recordedDestinationSchema,
  declineReason: z.string().optional(),
  errors: z.array(apiErrorSchema),
  reviews: z.array(z.object({ code: z.string() })),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type RecordedPayout = z.infer<typeof recordedPayoutSchema>;

/** Version 1 of a record's value. */
export const payoutRecordSchema = z.object({ event: eventOnTopicSchema, payout: recordedPayoutSchema });
export type PayoutRecord = z.infer<typeof payoutRecordSchema>;

export const encodePayoutRecord = (record: PayoutRecord, origin: RecordOrigin): EncodedRecord =>
  encodeEventRecord(record, { subject: 'payout', token: record.payout.token, origin });

export type DecodedPayoutRecord = DecodedRecord<PayoutRecord>;

/** As `decodePaymentRecord`, of a payout. */
export const decodePayoutRecord = (encoded: EncodedRecord): DecodedPayoutRecord =>
  decodeEventRecord(payoutRecordSchema, encoded);
