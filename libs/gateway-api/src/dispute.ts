/** The dispute as teams see it. */
import { disputeStates } from '@tollgate/core';
import { z } from 'zod';
import type { DisputeAggregate } from '@tollgate/books';
import { oneOf, publicObject, showing } from './public-object.ts';
import { paymentToken } from './refund.ts';
import { age, amount, currency, environment, example, instant } from './values.ts';

export const disputeToken = z
  .string()
  .describe("The gateway's token of the dispute; also the key of its records.");

/** The team is known with the payment. */
export const disputeOwner = {
  environment,
  team: z
    .string()
    .exactOptional()
    .describe('The team of the disputed payment; absent while it is not known.'),
};

const aboutPayment = paymentToken
  .describe('The disputed payment; absent while it is not known.')
  .exactOptional();

export const disputeFacts = {
  amount: amount.describe('The disputed amount, in minor units: 1250 is 12.50 EUR.'),
  currency,
  status: oneOf(
    disputeStates,
    '`unknown`: the Payment Service reports a status that the gateway does not know; the dispute counts as open.',
  ),
  reportedStatus: z
    .string()
    .describe('The status as reported by the Payment Service; the specification names no values.'),
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
  inAnswers: { token: disputeToken, paymentToken: aboutPayment },
  inRecords: { token: disputeToken, ...disputeOwner, paymentToken: aboutPayment },
});

/** In the list of the specification, `token` names the payment. */
export const specifiedDispute = publicDispute.answer
  .omit({ paymentToken: true })
  .extend({ token: aboutPayment, disputeToken });
export type PublicDispute = z.infer<typeof publicDispute.answer>;
export type RecordedDispute = z.infer<typeof publicDispute.record>;

const [showAnswer, showRecord] = [showing(publicDispute.answer), showing(publicDispute.record)];
const showSpecified = showing(specifiedDispute);

// The opening time that the provider reports, or else when we first saw it.
const sourceOf = (aggregate: DisputeAggregate) => ({
  ...aggregate.dispute,
  ...aggregate,
  status: aggregate.dispute.state,
  reportedStatus: aggregate.dispute.status,
  createdAt: aggregate.dispute.openedAt ?? aggregate.createdAt,
});

export const toPublicDispute = (aggregate: DisputeAggregate): PublicDispute =>
  showAnswer(sourceOf(aggregate));
export const toSpecifiedDispute = (aggregate: DisputeAggregate): z.infer<typeof specifiedDispute> =>
  showSpecified({
    ...sourceOf(aggregate),
    token: aggregate.dispute.paymentToken,
    disputeToken: aggregate.token,
  });
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
  reportedStatus: 'pending',
  createdAt: example.instant,
  updatedAt: example.instant,
};
