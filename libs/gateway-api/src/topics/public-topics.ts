/** Each message of the public topics with an example record: AsyncAPI derives from them, and specs check records by them. */
import { z } from 'zod';
import { exampleDispute, publicDispute } from '../dispute.ts';
import { exampleJournalEntry, journalEntryOnTopic } from '../journal.ts';
import { examplePayment, publicPayment } from '../payment.ts';
import { examplePayout, publicPayout } from '../payout.ts';
import type { PublicEvent } from '../public-object.ts';
import { example } from '../values.ts';
import type { EncodedRecord } from '@tollgate/core';
import { type RecordSubject, cloudEventType, eventOnTopicSchema } from './record-format.ts';
import {
  encodeJournalRecord,
  encodeRecord,
  gatewayJournalTopic,
  journalEntryType,
  journalRecordSchema,
  topicContents,
} from './records.ts';

export interface PublicMessage {
  /** `ce_type`. */
  type: string;
  /** The event's name, for example `PaymentApproved`. */
  event: string;
  meaning: string;
  /** Of the value. */
  schema: z.ZodType;
  example: EncodedRecord;
}

export interface PublicTopic<Subject extends string = RecordSubject | 'entry'> {
  topic: string;
  /** The field of a value with the subject of the event, or with the entry of the journal. */
  subject: Subject;
  /** The content of the topic, and its key. */
  contents: string;
  key: string;
  subjectSchema: z.ZodObject;
  messages: readonly PublicMessage[];
}

const origin = {
  position: '00000000000000000042',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};
const envelope = {
  id: '3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f',
  time: example.instant,
  sequence: 3,
  correlationId: '9b2c7d4e-1f3a-4b5c-8d6e-7f8091a2b3c4',
};

function toPublicTopic(
  subject: RecordSubject,
  subjectSchema: z.ZodObject,
  exampleSubject: { token: string },
): PublicTopic<RecordSubject> {
  const { topic, events } = topicContents[subject];
  const messages = Object.entries<PublicEvent>(events).map(([event, { meaning, record, ...of }]) => ({
    type: cloudEventType(event, subject),
    event,
    meaning,
    schema: z.object({
      event: eventOnTopicSchema.extend({ type: z.literal(event), data: record }),
      [subject]: subjectSchema,
    }),
    example: encodeRecord(
      subject,
      { ...envelope, type: event, data: of.example as Record<string, unknown> },
      { shown: { ...exampleSubject, ...of.after }, origin },
    ),
  }));
  return {
    topic,
    subject,
    contents: `Every event of every ${subject}, keyed by its token.`,
    key: `Token of the ${subject}.`,
    subjectSchema,
    messages,
  };
}

const journalTopic: PublicTopic = {
  topic: gatewayJournalTopic,
  subject: 'entry',
  contents: 'Every entry of the journal, keyed by its wallet. An event that moves no money has no entry.',
  key: '`<environment>/<merchant account>/<wallet>`.',
  subjectSchema: journalEntryOnTopic,
  messages: [
    {
      type: journalEntryType,
      event: 'JournalEntry',
      meaning: 'An event has moved money in a wallet. The postings sum to zero.',
      schema: journalRecordSchema,
      example: encodeJournalRecord(exampleJournalEntry, {
        sequence: envelope.sequence,
        correlationId: envelope.correlationId,
        origin: { ...origin, position: `${origin.position}~0` },
      }),
    },
  ],
};

export const eventTopics: readonly PublicTopic<RecordSubject>[] = [
  toPublicTopic('payment', publicPayment.record, examplePayment),
  toPublicTopic('payout', publicPayout.record, examplePayout),
  toPublicTopic('dispute', publicDispute.record, exampleDispute),
];
export const publicTopics: readonly PublicTopic[] = [...eventTopics, journalTopic];
