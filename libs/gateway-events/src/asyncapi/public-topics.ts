/** All that is said about the public topics, in one place: the document is made of it, and the specs check records by it. */
import { z } from 'zod';
import type { EncodedRecord } from '../callback-records.ts';
import { disputeEventData } from '../consumer/dispute-event-data.ts';
import type { EventData } from '../consumer/gateway-records.ts';
import { paymentEventData } from '../consumer/payment-event-data.ts';
import { payoutEventData } from '../consumer/payout-event-data.ts';
import { encodeDisputeRecord, gatewayDisputesTopic, recordedDisputeSchema } from '../dispute-records.ts';
import { encodePaymentRecord, gatewayPaymentsTopic, recordedPaymentSchema } from '../payment-records.ts';
import { encodePayoutRecord, gatewayPayoutsTopic, recordedPayoutSchema } from '../payout-records.ts';
import {
  type EventOnTopic,
  type RecordSubject,
  cloudEventType,
  eventOnTopicSchema,
} from '../record-format.ts';
import { type DescribedEvents, exampleInstant } from './described-event.ts';
import { disputeEvents, disputeFields, exampleDispute } from './dispute-messages.ts';
import { examplePayment, paymentEvents, paymentFields } from './payment-messages.ts';
import { examplePayout, payoutEvents, payoutFields } from './payout-messages.ts';

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

export interface PublicTopic {
  topic: string;
  /** The field of a value that holds what its event is about. */
  subject: RecordSubject;
  subjectSchema: z.ZodType;
  subjectFields: Readonly<Record<string, string>>;
  messages: readonly PublicMessage[];
}

const origin = {
  position: '00000000000000000042',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};
const envelope = {
  ...{ id: '3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f', time: exampleInstant, sequence: 3 },
  correlationId: '9b2c7d4e-1f3a-4b5c-8d6e-7f8091a2b3c4',
};

interface Described<Subject> extends Omit<PublicTopic, 'messages'> {
  subjectSchema: z.ZodType<Subject>;
  data: EventData;
  events: DescribedEvents<EventData, Subject>;
  example: Subject;
  encode: (event: EventOnTopic, subject: Subject) => EncodedRecord;
}

function toPublicTopic<Subject>(described: Described<Subject>): PublicTopic {
  const { topic, subject, subjectSchema, subjectFields, data, events, example, encode } = described;
  const messages = Object.entries(data).map(([event, dataSchema]): PublicMessage => {
    const { meaning, data: exampleData, after } = events[event] ?? nothingIsSaidAbout(event);
    const exampleEvent = { ...envelope, type: event, data: exampleData as EventOnTopic['data'] };
    return {
      ...{ type: cloudEventType(event, subject), event, meaning },
      schema: z.object({
        event: eventOnTopicSchema.extend({ type: z.literal(event), data: dataSchema }),
        [subject]: subjectSchema,
      }),
      example: encode(exampleEvent, { ...example, ...after }),
    };
  });
  return { topic, subject, subjectSchema, subjectFields, messages };
}

function nothingIsSaidAbout(event: string): never {
  throw new RangeError(`nothing is said about ${event}`);
}

export const publicTopics: readonly PublicTopic[] = [
  toPublicTopic({
    ...{ topic: gatewayPaymentsTopic, subject: 'payment', data: paymentEventData, events: paymentEvents },
    ...{ subjectSchema: recordedPaymentSchema, subjectFields: paymentFields, example: examplePayment },
    encode: (event, payment) => encodePaymentRecord({ event, payment }, origin),
  }),
  toPublicTopic({
    ...{ topic: gatewayPayoutsTopic, subject: 'payout', data: payoutEventData, events: payoutEvents },
    ...{ subjectSchema: recordedPayoutSchema, subjectFields: payoutFields, example: examplePayout },
    encode: (event, payout) => encodePayoutRecord({ event, payout }, origin),
  }),
  toPublicTopic({
    ...{ topic: gatewayDisputesTopic, subject: 'dispute', data: disputeEventData, events: disputeEvents },
    ...{ subjectSchema: recordedDisputeSchema, subjectFields: disputeFields, example: exampleDispute },
    encode: (event, dispute) => encodeDisputeRecord({ event, dispute }, origin),
  }),
];
