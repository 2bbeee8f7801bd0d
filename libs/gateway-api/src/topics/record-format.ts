/** The format of all `gateway.…` topics: CloudEvents 1.0 in binary mode, the event, and the state of its subject after it. */
import { z } from 'zod';

/** The part of a bus message that encoding and decoding need. */
export interface EncodedRecord {
  key: string;
  value: Uint8Array;
  headers: Readonly<Record<string, string>>;
}

/** The header with the record's position in the event store, from which the publisher resumes. */
export const positionHeader = 'tollgate_position';
/** The header with the id of the event, the same as in the event store. */
export const eventIdHeader = 'ce_id';
/** The header with the token of the payment, payout, dispute or transfer whose event it is. */
export const subjectHeader = 'ce_subject';
/** The header with the event's number in its history. */
export const sequenceHeader = 'ce_sequence';

/** The header with the cause of the event: the id of a request, if there was one. */
export const correlationHeader = 'ce_correlationid';

export type RecordSubject = 'payment' | 'payout' | 'dispute';

/** An event in a record. */
export const eventOnTopicSchema = z.object({
  id: z.string(),
  /** The event's name in the past tense, for example `PaymentApproved`. */
  type: z.string(),
  time: z.iso.datetime(),
  /** Number of the event in the history of its subject, from 0, without gaps. */
  sequence: z.int().min(0),
  correlationId: z.string(),
  /** Fields of the event that consumers may rely on. */
  data: z.record(z.string(), z.unknown()),
});
export type EventOnTopic = z.infer<typeof eventOnTopicSchema>;

/** Parts that are only in the headers of a record, not in its value. */
export interface RecordOrigin {
  position: string;
  /** W3C Trace Context, if the event has one. */
  traceparent?: string;
}

const capitalized = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
const kebabCase = (name: string): string => name.replace(/(?<!^)([A-Z])/g, '-$1').toLowerCase();

/** `PaymentApproved` is `tollgate.payment.approved.v1`, `AttemptNotFound` is `tollgate.payment.attempt-not-found.v1`. */
export function cloudEventType(type: string, subject: RecordSubject = 'payment'): string {
  const prefix = capitalized(subject);
  const name = type.startsWith(prefix) && type !== prefix ? type.slice(prefix.length) : type;
  return `tollgate.${subject}.${kebabCase(name)}.v1`;
}

/** With this many digits it sorts alike as a number and, as the CloudEvents extension requires, as text. */
const sequenceDigits = 10;
const sequenceText = (sequence: number): string => String(sequence).padStart(sequenceDigits, '0');

export interface RecordHead {
  id: string;
  /** As in `ce_type`. */
  type: string;
  source: string;
  /** The token of the payment, payout, dispute or transfer. */
  subject: string;
  time: string;
  sequence: number;
  correlationId: string;
  origin: RecordOrigin;
}

export function encodeCloudEvent(key: string, value: object, head: RecordHead): EncodedRecord {
  const { id, type, source, subject, time, sequence, correlationId, origin } = head;
  const headers = {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    [eventIdHeader]: id,
    ce_type: type,
    ce_source: source,
    [subjectHeader]: subject,
    ce_time: time,
    [sequenceHeader]: sequenceText(sequence),
    [correlationHeader]: correlationId,
    [positionHeader]: origin.position,
    ...(origin.traceparent === undefined ? {} : { traceparent: origin.traceparent }),
  };
  return { key, value: new TextEncoder().encode(JSON.stringify(value)), headers };
}

export type DecodedRecord<Value> = { kind: 'record'; record: Value } | { kind: 'unreadable'; reason: string };

/** Never throws. Unknown fields, which later versions may add, are ignored. */
export function decodeEventRecord<Value>(
  schema: z.ZodType<Value>,
  encoded: EncodedRecord,
): DecodedRecord<Value> {
  const value = parseObject(encoded.value);
  if (value === undefined) return { kind: 'unreadable', reason: 'the value is not a JSON object' };
  const result = schema.safeParse(value);
  if (result.success) return { kind: 'record', record: result.data };
  const [issue] = result.error.issues;
  return { kind: 'unreadable', reason: `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim() };
}

export function parseObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
