/**
 * `gateway.payments.v1`: every event of every payment, keyed by payment token, in the payment's order, each once. A record
 * holds the event and the payment as it stood after it, so a consumer needs no other call. CloudEvents 1.0, binary mode.
 */
import {
  amountSchema,
  apiErrorSchema,
  currencySchema,
  paymentStatusSchema,
} from '@tollgate/payment-api/values';
import { z } from 'zod';
import { type EncodedRecord, parseObject } from './callback-records.ts';

export const gatewayPaymentsTopic = 'gateway.payments.v1';
/** Header that holds the event's position in the event store: what the publisher resumes from. */
export const positionHeader = 'tollgate_position';

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
  sanitizedMask: z.string().optional(),
  declineReason: z.string().optional(),
  errors: z.array(apiErrorSchema),
  attention: z.array(z.object({ code: z.string() })),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type RecordedPayment = z.infer<typeof recordedPaymentSchema>;

/** Version 1 of a record's value. */
export const paymentRecordSchema = z.object({
  event: z.object({
    id: z.string(),
    /** The event's name in the past tense, for example `PaymentApproved`. */
    type: z.string(),
    time: z.iso.datetime(),
    /** Number of the event in the payment's history, from 0. Gapless. */
    sequence: z.int().min(0),
    correlationId: z.string(),
    /** Fields of the event that consumers may rely on. */
    data: z.record(z.string(), z.unknown()),
  }),
  payment: recordedPaymentSchema,
});
export type PaymentRecord = z.infer<typeof paymentRecordSchema>;

const source = '/tollgate/payments';
const kebabCase = (name: string): string => name.replace(/(?<!^)([A-Z])/g, '-$1').toLowerCase();

/** `PaymentApproved` is `tollgate.payment.approved.v1`, `AttemptNotFound` is `tollgate.payment.attempt-not-found.v1`. */
export const cloudEventType = (type: string): string =>
  `tollgate.payment.${kebabCase(type.replace(/^Payment(?=[A-Z])/, ''))}.v1`;

export function encodePaymentRecord(
  record: PaymentRecord,
  origin: { position: string; traceparent?: string },
): EncodedRecord {
  const { event, payment } = record;
  const headers = {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: cloudEventType(event.type),
    ce_source: source,
    ce_subject: payment.token,
    ce_time: event.time,
    ce_sequence: String(event.sequence),
    [positionHeader]: origin.position,
    ...(origin.traceparent === undefined ? {} : { traceparent: origin.traceparent }),
  };
  return { key: payment.token, value: new TextEncoder().encode(JSON.stringify(record)), headers };
}

export type DecodedPaymentRecord =
  { kind: 'record'; record: PaymentRecord } | { kind: 'unreadable'; reason: string };

/** One call for consumers. Never throws; unknown fields, which later versions may add, are left out. */
export function decodePaymentRecord(encoded: EncodedRecord): DecodedPaymentRecord {
  const value = parseObject(encoded.value);
  if (value === undefined) return { kind: 'unreadable', reason: 'the value is not a JSON object' };
  const result = paymentRecordSchema.safeParse(value);
  if (result.success) return { kind: 'record', record: result.data };
  const [issue] = result.error.issues;
  return { kind: 'unreadable', reason: `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim() };
}
