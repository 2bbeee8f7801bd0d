/**
 * The public topics: every event of every payment (its refunds among them), payout and dispute, keyed by its token, in
 * order, each once. A record carries the event and the state of its subject after it, so a consumer needs no other call.
 * The journal has one record per entry instead.
 */
import { z } from 'zod';
import { disputeEvents } from '../dispute-events.ts';
import { publicDispute } from '../dispute.ts';
import { type JournalEntryOnTopic, journalEntryOnTopic } from '../journal.ts';
import { paymentEvents } from '../payment-events.ts';
import { publicPayment } from '../payment.ts';
import { payoutEvents } from '../payout-events.ts';
import { publicPayout } from '../payout.ts';
import type { PublicEvent } from '../public-object.ts';
import {
  type DecodedRecord,
  type EventOnTopic,
  type RecordHead,
  type RecordOrigin,
  type RecordSubject,
  cloudEventType,
  decodeEventRecord,
  encodeCloudEvent,
  eventOnTopicSchema,
  type EncodedRecord,
} from './record-format.ts';

export const gatewayPaymentsTopic = 'gateway.payments.v1';
export const gatewayPayoutsTopic = 'gateway.payouts.v1';
export const gatewayDisputesTopic = 'gateway.disputes.v1';
/** Every entry of the journal, keyed by environment, merchant account and wallet. */
export const gatewayJournalTopic = 'gateway.journal.v1';
/** `ce_type` of a journal entry. */
export const journalEntryType = 'tollgate.journal.entry.v1';
export const journalRecordSchema = z.object({ entry: journalEntryOnTopic });

/** The content of each topic: the events, and version 1 of a record's value. */
export const topicContents = {
  payment: {
    topic: gatewayPaymentsTopic,
    events: paymentEvents,
    value: z.object({ event: eventOnTopicSchema, payment: publicPayment.record }),
  },
  payout: {
    topic: gatewayPayoutsTopic,
    events: payoutEvents,
    value: z.object({ event: eventOnTopicSchema, payout: publicPayout.record }),
  },
  dispute: {
    topic: gatewayDisputesTopic,
    events: disputeEvents,
    value: z.object({ event: eventOnTopicSchema, dispute: publicDispute.record }),
  },
} as const;

export type RecordOf<Subject extends RecordSubject> = z.infer<(typeof topicContents)[Subject]['value']>;
export type PaymentRecord = RecordOf<'payment'>;

/** The public data of an event. @throws RangeError for an event that is not published */
export function toRecordData(
  subject: RecordSubject,
  { type, data }: { type: string; data: object },
): EventOnTopic['data'] {
  const events: Readonly<Record<string, PublicEvent>> = topicContents[subject].events;
  const event = events[type];
  if (event === undefined) throw new RangeError(`${type} is not published`);
  return event.toRecord(data);
}

export function encodeRecord(
  subject: RecordSubject,
  event: EventOnTopic,
  { shown, origin }: { shown: { token: string }; origin: RecordOrigin },
): EncodedRecord {
  const { token } = shown;
  const head = { type: cloudEventType(event.type, subject), source: `/tollgate/${subject}s`, subject: token };
  const { id, time, sequence, correlationId } = event;
  const value = { event, [subject]: shown };
  return encodeCloudEvent(token, value, { ...head, id, time, sequence, correlationId, origin });
}

/** Keyed by the wallet, so that its entries are in order. */
export function encodeJournalRecord(
  entry: JournalEntryOnTopic,
  event: Pick<RecordHead, 'sequence' | 'correlationId' | 'origin'>,
): EncodedRecord {
  const { id, time, token: subject, environment, account, wallet } = entry;
  const head = { id, time, subject, type: journalEntryType, source: '/tollgate/journal' };
  return encodeCloudEvent(`${environment}/${account}/${wallet}`, { entry }, { ...head, ...event });
}

/** For consumers. Never throws. Unknown fields, which later versions may add, are ignored. */
export const decodePaymentRecord = (encoded: EncodedRecord): DecodedRecord<PaymentRecord> =>
  decodeEventRecord(topicContents.payment.value, encoded);

/** As {@link decodePaymentRecord}, for payouts. */
export const decodePayoutRecord = (encoded: EncodedRecord): DecodedRecord<RecordOf<'payout'>> =>
  decodeEventRecord(topicContents.payout.value, encoded);

/** As {@link decodePaymentRecord}, for disputes. */
export const decodeDisputeRecord = (encoded: EncodedRecord): DecodedRecord<RecordOf<'dispute'>> =>
  decodeEventRecord(topicContents.dispute.value, encoded);

/** As {@link decodePaymentRecord}, for entries of the journal. */
export const decodeJournalRecord = (
  encoded: EncodedRecord,
): DecodedRecord<z.infer<typeof journalRecordSchema>> => decodeEventRecord(journalRecordSchema, encoded);
