/**
 * `gateway.disputes.v1`: every event of every dispute, keyed by the dispute's own token, in the dispute's order, each once.
 * A record holds the event and the dispute as it stood after it, with the payment that it is about once that is known.
 */
import { amountSchema, currencySchema } from '@tollgate/payment-api/values';
import { z } from 'zod';
import type { EncodedRecord } from './callback-records.ts';
import {
  type DecodedRecord,
  type RecordOrigin,
  decodeEventRecord,
  encodeEventRecord,
  eventOnTopicSchema,
} from './record-format.ts';

export const gatewayDisputesTopic = 'gateway.disputes.v1';

/** A dispute as a record shows it. */
export const recordedDisputeSchema = z.object({
  token: z.string(),
  /** The Payment Service's own: what its people and the bank know the dispute by. */
  id: z.string(),
  environment: z.string(),
  /** Absent while the payment is not known. */
  team: z.string().optional(),
  /** Our token of the payment that it is about; it may become known later, and then stays. */
  paymentToken: z.string().optional(),
  amount: amountSchema,
  currency: currencySchema,
  /** As the service tells it: the specification names no values. */
  status: z.string(),
  type: z.string().optional(),
  reasonCode: z.string().optional(),
  comment: z.string().optional(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type RecordedDispute = z.infer<typeof recordedDisputeSchema>;

/** Version 1 of a record's value. */
export const disputeRecordSchema = z.object({ event: eventOnTopicSchema, dispute: recordedDisputeSchema });
export type DisputeRecord = z.infer<typeof disputeRecordSchema>;

export const encodeDisputeRecord = (record: DisputeRecord, origin: RecordOrigin): EncodedRecord =>
  encodeEventRecord(record, { subject: 'dispute', token: record.dispute.token, origin });

export type DecodedDisputeRecord = DecodedRecord<DisputeRecord>;

/** As `decodePaymentRecord`, of a dispute. */
export const decodeDisputeRecord = (encoded: EncodedRecord): DecodedDisputeRecord =>
  decodeEventRecord(disputeRecordSchema, encoded);
