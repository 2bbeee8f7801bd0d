/** The public form of each payment event: its meaning, its data and an example. */
import { paymentStatusSchema } from '@tollgate/core/money';
import {
  paymentFailureSchema,
  reviewCodes,
  termsSchema,
  type PaymentEvent,
  type PaymentEventOf,
  type PaymentEventType,
} from '@tollgate/core';
import { z } from 'zod';
import { paymentTerms } from './payment.ts';
import { oneOf, publicEvent, type PublicEvent } from './public-object.ts';
import { refundToken } from './refund.ts';
import { callbackEvents, reviewEvents } from './review.ts';
import {
  amount,
  declineReason,
  endReason,
  errors,
  metadata,
  outcomeSource,
  reason,
  sanitizedMask,
  sendBy,
} from './values.ts';

const attempt = z
  .object({
    number: z.int().min(1).describe('From 1.'),
    providerOrderNumber: z.string().describe('The order number at the Payment Service.'),
    sendBy,
  })
  .describe('The announced call that creates the payment at the Payment Service.');
const attemptNumber = z.int().min(1).describe('Number of the attempt.');
const mask = { sanitizedMask: sanitizedMask.exactOptional() };
const refusedCall = { errors, reason: endReason.exactOptional() };

// Data that is only in the request of a payment is never shown afterwards.
const { locale: _, ...adoptedTerms } = paymentTerms.both;

const dispute = {
  disputeToken: z.string().describe('The dispute.'),
  amount: amount.describe(
    'In minor units of the currency of the payment. The whole amount of the payment if the bank names another currency.',
  ),
};
export const paymentEvents = {
  PaymentRequested: publicEvent(
    'A team requested a payment. Nothing has been sent to the Payment Service yet.',
    { kind: oneOf(termsSchema.shape.kind.options, 'How the customer pays.'), ...paymentTerms.both, attempt },
    {
      inAnswers: paymentTerms.inAnswers,
      from: ({ terms, attempt: announced }: PaymentEventOf<'PaymentRequested'>['data']) => ({
        ...terms,
        attempt: announced,
      }),
    },
  ),
  PaymentAdopted: publicEvent(
    'An operator adopted the payment for the team, as the Payment Service showed it. The gateway has announced and called nothing.',
    adoptedTerms,
    {
      inAnswers: { callbackUrl: paymentTerms.inAnswers.callbackUrl },
      from: ({ terms, recurringToken }: PaymentEventOf<'PaymentAdopted'>['data']) => ({
        ...terms,
        recurringToken,
      }),
    },
  ),
  AttemptAccepted: publicEvent(
    'The Payment Service accepted the payment.',
    { attemptNumber, source: outcomeSource },
    {
      from: ({ attemptNumber: accepted, evidence }: PaymentEventOf<'AttemptAccepted'>['data']) => ({
        attemptNumber: accepted,
        source: evidence,
      }),
    },
  ),
  AttemptRefused: publicEvent('The Payment Service refused the attempt; no money moved.', {
    attemptNumber,
    errors,
  }),
  AttemptNotSent: publicEvent('The attempt was provably never sent.', { attemptNumber, reason }),
  AttemptUnresolved: publicEvent(
    'The attempt was sent and its answer was lost. The gateway inquires about its status.',
    { attemptNumber, reason },
  ),
  AttemptNotFound: publicEvent('The Payment Service does not show the attempt after the quiet period.', {
    attemptNumber,
  }),
  AttemptStarted: publicEvent('A further attempt was started, with its own order number.', { attempt }),
  PaymentPending: publicEvent('The customer started to pay.'),
  PaymentAuthorized: publicEvent('The money is authorized until the team captures or voids it.', {
    authorizedAmount: amount,
    ...mask,
  }),
  PaymentApproved: publicEvent('The payment was approved.', { amount, ...mask }),
  PaymentDeclined: publicEvent('The payment was declined.', {
    declineReason: declineReason.exactOptional(),
    ...mask,
  }),
  PaymentVoided: publicEvent(
    'The authorization was voided: nothing was captured, and the reserved money is released.',
    mask,
  ),
  PaymentExpired: publicEvent('The customer did not pay in time.'),
  PaymentFailed: publicEvent('No attempt is left, and nothing was charged.', {
    reason: oneOf(paymentFailureSchema.options),
  }),
  CaptureSubmitted: publicEvent(
    'The team requested the capture. The gateway is about to call the Payment Service.',
    { sendBy },
  ),
  CaptureRefused: publicEvent('The Payment Service refused the capture.', refusedCall),
  CaptureUnresolved: publicEvent(
    'The answer to the capture was lost. The gateway inquires about its status.',
    { reason },
  ),
  VoidSubmitted: publicEvent(
    'The team requested the void. The gateway is about to call the Payment Service.',
    { sendBy },
  ),
  VoidRefused: publicEvent('The Payment Service refused the void.', refusedCall),
  VoidUnresolved: publicEvent('The answer to the void was lost. The gateway inquires about its status.', {
    reason,
  }),
  RefundSubmitted: publicEvent(
    'The team requested a refund, and its amount is reserved. The gateway is about to call the Payment Service.',
    { refundToken, amount, metadata: metadata.exactOptional(), sendBy },
  ),
  RefundAccepted: publicEvent('The Payment Service accepted the refund and has not decided it yet.', {
    refundToken,
  }),
  RefundApproved: publicEvent('The refund was approved.', { refundToken }),
  RefundDeclined: publicEvent('The refund failed; its amount is no longer reserved.', {
    refundToken,
    ...refusedCall,
  }),
  RefundUnresolved: publicEvent(
    'The answer to the refund was lost, and its amount stays reserved. The gateway inquires about its status.',
    { refundToken, reason },
  ),
  ExternalRefundObserved: publicEvent('Money was refunded outside the gateway.', { amount }),
  FinalStatusRevised: publicEvent('The Payment Service changed a final status.', {
    from: paymentStatusSchema,
    to: paymentStatusSchema,
    amount: amount
      .exactOptional()
      .describe('The approved amount after a revision to `approved`, in minor units.'),
    declineReason: declineReason.exactOptional(),
  }),
  AdoptionDeclaredPayable: publicEvent('An operator declared the money of the adopted payment payable.'),
  DisputeOpened: publicEvent(
    "The customer's bank wants money back. It cannot be refunded or paid out until the bank decides.",
    dispute,
  ),
  DisputeChanged: publicEvent('The bank changed the amount of an open dispute.', dispute),
  DisputeWon: publicEvent('The bank decided in your favor: you keep the money.', dispute),
  DisputeLost: publicEvent('The bank decided for its customer: the money is lost.', dispute),
  RecurringTokenIssued: publicEvent(
    'The payment returned a recurring token for later charges of this customer.',
    { recurringToken: z.string() },
  ),
  ...callbackEvents,
  ...reviewEvents(reviewCodes),
} satisfies Record<PaymentEventType, PublicEvent>;

/**
 * An event's data without the fingerprint, the provider's tokens, the account, the customer and URLs with secrets: the
 * fields of its schema, and nothing else.
 */
export const toPublicEventData = ({ type, data }: PaymentEvent): Record<string, unknown> =>
  paymentEvents[type].toAnswer(data);
