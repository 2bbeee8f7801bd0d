/** Decoding for consumers: one call for the records of all public topics, typed by the kind of event. */
import type { z } from 'zod';
import type { EncodedRecord } from '../callback-records.ts';
import { type RecordedDispute, decodeDisputeRecord } from '../dispute-records.ts';
import { type RecordedPayment, decodePaymentRecord } from '../payment-records.ts';
import { type RecordedPayout, decodePayoutRecord } from '../payout-records.ts';
import {
  type DecodedRecord,
  type EventOnTopic,
  type RecordSubject,
  cloudEventType,
} from '../record-format.ts';
import { disputeEventData } from './dispute-event-data.ts';
import { paymentEventData } from './payment-event-data.ts';
import { payoutEventData } from './payout-event-data.ts';

/** Data of each event by its name. */
export type EventData = Readonly<Record<string, z.ZodType>>;

/** An event, with the data that its type has. */
type TypedEvent<Data extends EventData> = {
  [Type in keyof Data & string]: Omit<EventOnTopic, 'type' | 'data'> & {
    type: Type;
    data: z.infer<Data[Type]>;
  };
}[keyof Data & string];

export type PaymentEventOnTopic = TypedEvent<typeof paymentEventData>;
export type PayoutEventOnTopic = TypedEvent<typeof payoutEventData>;
export type DisputeEventOnTopic = TypedEvent<typeof disputeEventData>;

export type DecodedGatewayRecord =
  | { kind: 'payment'; event: PaymentEventOnTopic; payment: RecordedPayment }
  | { kind: 'payout'; event: PayoutEventOnTopic; payout: RecordedPayout }
  | { kind: 'dispute'; event: DisputeEventOnTopic; dispute: RecordedDispute }
  /** A type of event that came after this version. What it is about can be read all the same, with its topic's decoder. */
  | { kind: 'unknown-type'; type: string }
  /** Not by this version's rules: somebody else's record, or a damaged one. */
  | { kind: 'unreadable'; reason: string };

interface KnownType {
  subject: RecordSubject;
  event: string;
  data: z.ZodType;
  decode: (encoded: EncodedRecord) => DecodedRecord<{ event: EventOnTopic }>;
}

const ofSubject = (subject: RecordSubject, data: EventData, decode: KnownType['decode']) =>
  Object.entries(data).map(
    ([event, schema]) => [cloudEventType(event, subject), { subject, event, data: schema, decode }] as const,
  );

const knownTypes: ReadonlyMap<string, KnownType> = new Map([
  ...ofSubject('payment', paymentEventData, decodePaymentRecord),
  ...ofSubject('payout', payoutEventData, decodePayoutRecord),
  ...ofSubject('dispute', disputeEventData, decodeDisputeRecord),
]);

/**
 * Tells by `ce_type` what a record of any of the public topics is, and checks it. Never throws: a consumer that throws on
 * a record reads no further. Fields that later versions may add are left out.
 */
export function decodeGatewayRecord(encoded: EncodedRecord): DecodedGatewayRecord {
  const ceType = encoded.headers['ce_type'];
  if (ceType === undefined) return unreadable('the header ce_type is missing');
  const known = knownTypes.get(ceType);
  if (known === undefined) return { kind: 'unknown-type', type: ceType };
  const decoded = known.decode(encoded);
  if (decoded.kind === 'unreadable') return decoded;
  const { event, ...subject } = decoded.record;
  if (event.type !== known.event)
    return unreadable(`the header ce_type is that of ${known.event}, and event.type another`);
  const data = known.data.safeParse(event.data);
  if (!data.success) return unreadable(firstIssue(data.error));
  return { kind: known.subject, event: { ...event, data: data.data }, ...subject } as DecodedGatewayRecord;
}

const unreadable = (reason: string) => ({ kind: 'unreadable', reason }) as const;

function firstIssue({ issues: [issue] }: z.ZodError): string {
  return `${['event', 'data', ...(issue?.path ?? [])].join('.')} ${issue?.message ?? ''}`.trim();
}
