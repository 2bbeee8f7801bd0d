/** Each message of the public topics with an example record: AsyncAPI derives from them, and specs check records by them. */
import { z } from 'zod';
import { type RecordedDispute, exampleDispute, publicDispute } from '../dispute.ts';
import { exampleJournalEntry, journalEntryOnTopic } from '../journal.ts';
import { type RecordedPayment, examplePayment, publicPayment } from '../payment.ts';
import { type RecordedPayout, examplePayout, publicPayout } from '../payout.ts';
import type { PublicEvent } from '../public-object.ts';
import { example } from '../values.ts';
import { omitUndefined } from '@tollgate/service-kit';
import {
  type EventOnTopic,
  type RecordSubject,
  cloudEventType,
  eventOnTopicSchema,
  type EncodedRecord,
} from './record-format.ts';
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
  /** Of the events that most consumers book. */
  example?: EncodedRecord;
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

/** The event's data, and its subject after it. */
type Examples = Readonly<
  Record<
    string,
    readonly [data: EventOnTopic['data'], after: RecordedPayment | RecordedPayout | RecordedDispute]
  >
>;

function toPublicTopic(
  subject: RecordSubject,
  subjectSchema: z.ZodObject,
  examples: Examples,
): PublicTopic<RecordSubject> {
  const { topic, events } = topicContents[subject];
  const encoded = (type: string): EncodedRecord | undefined => {
    if (examples[type] === undefined) return undefined;
    const [data, shown] = examples[type];
    return encodeRecord(subject, { ...envelope, type, data }, { shown, origin });
  };
  const messages = Object.entries<PublicEvent>(events).map(([event, { meaning, record }]) => ({
    type: cloudEventType(event, subject),
    event,
    meaning,
    schema: z.object({
      event: eventOnTopicSchema.extend({ type: z.literal(event), data: record }),
      [subject]: subjectSchema,
    }),
    ...omitUndefined({ example: encoded(event) }),
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

const { product, amount, currency, orderNumber, needConfirmation } = examplePayment;
const attempt = {
  number: 1,
  providerOrderNumber: `${examplePayment.token}.1`,
  sendBy: '2030-01-01T12:00:05.000Z',
};
const approved: RecordedPayment = {
  ...examplePayment,
  status: 'approved',
  phase: 'approved',
  approvedAmount: amount,
};
const refund: RecordedPayment['refunds'][number] = {
  token: 'ref_5h2kq7ybz3v6n4tc',
  amount: 250,
  status: 'approved',
  phase: 'approved',
  createdAt: example.instant,
  updatedAt: example.instant,
};
const { token: providerOrderNumber, destination } = examplePayout;
const call = { providerOrderNumber, sendBy: attempt.sendBy };
const payoutTerms = {
  amount: examplePayout.amount,
  currency,
  orderNumber: examplePayout.orderNumber,
  destination,
};

export const eventTopics: readonly PublicTopic<RecordSubject>[] = [
  toPublicTopic('payment', publicPayment.record, {
    PaymentRequested: [
      { kind: 'hosted', product, amount, currency, orderNumber, needConfirmation, attempt },
      examplePayment,
    ],
    PaymentApproved: [{ amount }, approved],
    RefundApproved: [
      { refundToken: refund.token },
      { ...approved, refundedAmount: refund.amount, refunds: [refund] },
    ],
  }),
  toPublicTopic('payout', publicPayout.record, {
    PayoutRequested: [{ ...payoutTerms, call }, examplePayout],
    PayoutApproved: [{}, { ...examplePayout, status: 'approved', phase: 'approved' }],
  }),
  toPublicTopic('dispute', publicDispute.record, {
    DisputeOpened: [
      {
        amount,
        currency,
        type: 'chargeback',
        reasonCode: '4853',
        status: 'open',
        reportedStatus: 'pending',
        openedAt: example.instant,
      },
      exampleDispute,
    ],
  }),
];
export const publicTopics: readonly PublicTopic[] = [...eventTopics, journalTopic];

/** @throws RangeError if the type has no example */
export function exampleOf(type: string): EncodedRecord {
  const message = publicTopics.flatMap(({ messages }) => messages).find((each) => each.type === type);
  if (message?.example === undefined) throw new RangeError(`${type} has no example`);
  return message.example;
}
