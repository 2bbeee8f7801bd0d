/** The messages of `gateway.disputes.v1`: what each event means, and an example of it. */
import type { disputeEventData } from '../consumer/dispute-event-data.ts';
import type { RecordedDispute } from '../dispute-records.ts';
import {
  type DescribedEvents,
  exampleInstant,
  examplePaymentToken as paymentToken,
} from './described-event.ts';

const facts = { amount: 1250, currency: 'EUR', type: 'chargeback', reasonCode: '4853' };

/** As it stands when it has just been opened, and its payment is not known. */
export const exampleDispute: RecordedDispute = {
  ...{ token: 'dsp_4t7vkq3bz2n6y5cx', id: 'D-1024', environment: 'sandbox', ...facts, status: 'open' },
  ...{ createdAt: exampleInstant, updatedAt: exampleInstant },
};

const matched = { team: 'shop', paymentToken };

export const disputeEvents: DescribedEvents<typeof disputeEventData, RecordedDispute> = {
  DisputeOpened: {
    meaning: "The customer's bank wants money back.",
    data: { ...facts, status: 'open', openedAt: exampleInstant },
    after: {},
  },
  DisputeChanged: {
    meaning:
      'The Payment Service shows something new about the dispute: its status, and of the other facts those that are new.',
    data: { status: 'lost' },
    after: { ...matched, status: 'lost' },
  },
  DisputeMatched: {
    meaning: 'The payment that the dispute is about has become known.',
    data: { paymentToken },
    after: matched,
  },
};

/** What the fields of a dispute mean. */
export const disputeFields: Record<keyof RecordedDispute, string> = {
  token: "The gateway's name of the dispute, and the key of its records.",
  id: "The Payment Service's own: what its people and the bank know the dispute by.",
  environment: '`sandbox` or `production`.',
  team: 'Whose payment it is about; absent while that is not known.',
  paymentToken: 'The payment that it is about; absent while that is not known.',
  amount: 'What the bank wants back, in minor units: 1250 is 12.50 EUR.',
  currency: 'ISO 4217 alphabetic code in capitals.',
  status: 'As the Payment Service tells it: the specification names no values.',
  type: 'As the Payment Service tells it.',
  reasonCode: "The bank's.",
  comment: 'As the Payment Service tells it.',
  createdAt: 'When it was opened. ISO 8601 in UTC.',
  updatedAt: 'When its last event was recorded. ISO 8601 in UTC.',
};
