/** The dispute as teams see it, in the specification's own fields. */
import type { DisputeAggregate } from '@tollgate/core';
import { z } from 'zod';
import { publicObject, showing } from './public-object.ts';
import { paymentToken } from './refund.ts';
import { age, amount, currency, environment, example, instant } from './values.ts';

const aboutPayment = paymentToken
  .describe('The disputed payment; absent while it is not known.')
  .exactOptional();

export const disputeFacts = {
  amount: amount.describe('The disputed amount, in minor units: 1250 is 12.50 EUR.'),
  currency,
  status: z.string().describe('As reported by the Payment Service; the specification names no values.'),
  type: z.string().exactOptional().describe('As reported by the Payment Service.'),
  reasonCode: z.string().exactOptional().describe("The bank's reason code."),
  comment: z.string().exactOptional().describe('As reported by the Payment Service.'),
};

export const publicDispute = publicObject({
  both: {
    id: z.string().describe('The id that the Payment Service and the bank use.'),
    ...disputeFacts,
    ...age,
    createdAt: instant.describe('When it was opened. ISO 8601 in UTC.'),
  },
  inAnswers: { token: aboutPayment },
  inRecords: {
    token: z.string().describe("The gateway's token of the dispute; also the key of its records."),
    environment,
    team: z
      .string()
      .exactOptional()
      .describe('The team of the disputed payment; absent while it is not known.'),
    paymentToken: aboutPayment,
  },
});
export type PublicDispute = z.infer<typeof publicDispute.answer>;
export type RecordedDispute = z.infer<typeof publicDispute.record>;

const [showAnswer, showRecord] = [showing(publicDispute.answer), showing(publicDispute.record)];

// The opening time that the provider reports, or else when we first saw it.
const sourceOf = (aggregate: DisputeAggregate) => ({
  ...aggregate.dispute,
  ...aggregate,
  createdAt: aggregate.dispute.openedAt ?? aggregate.createdAt,
});

export const toPublicDispute = (aggregate: DisputeAggregate): PublicDispute =>
  showAnswer({ ...sourceOf(aggregate), token: aggregate.dispute.paymentToken });
export const toRecordedDispute = (aggregate: DisputeAggregate): RecordedDispute =>
  showRecord(sourceOf(aggregate));

/** A dispute that has just been opened, before its payment is known. */
export const exampleDispute: RecordedDispute = {
  token: 'dsp_4t7vkq3bz2n6y5cx',
  id: 'D-1024',
  environment: 'sandbox',
  amount: 1250,
  currency: 'EUR',
  type: 'chargeback',
  reasonCode: '4853',
  status: 'open',
  createdAt: example.instant,
  updatedAt: example.instant,
};
