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
import { paymentTerms, type RecordedPayment } from './payment.ts';
import { oneOf, publicEvent, type PublicEvent } from './public-object.ts';
import { refundToken } from './refund.ts';
import { callbackEvents, reviewEvents } from './review.ts';
import {
  amount,
  declineReason,
  endReason,
  errors,
  example,
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

const exampleAttempt = {
  number: 1,
  providerOrderNumber: `${example.paymentToken}.1`,
  sendBy: example.sendBy,
};
const exampleMask = { sanitizedMask: example.sanitizedMask };
const exampleRefund = { refundToken: 'ref_5h2kq7ybz3v6n4tc' };
const dispute = {
  disputeToken: z.string().describe('The dispute.'),
  amount: amount.describe(
    'In minor units of the currency of the payment. The whole amount of the payment if the bank names another currency.',
  ),
};
const exampleDispute = { disputeToken: 'dsp_4t7vkq3bz2n6y5cx', amount: 1250 };
const exampleRefusal = { errors: [example.refusal], reason: 'refused' };
const timeout = { reason: 'timeout' };

type After = Partial<RecordedPayment>;
const after = {
  init: { status: 'init', phase: 'init' },
  unresolved: { status: 'init', phase: 'unresolved' },
  approved: { status: 'approved', phase: 'approved', approvedAmount: 1250, ...exampleMask },
} satisfies Record<string, After>;
const inTwoSteps = (phase: string): After => ({
  status: 'pending',
  phase,
  needConfirmation: true,
  heldAmount: 1250,
  ...exampleMask,
});
const withRefund = (status: 'pending' | 'approved' | 'declined', phase: string): After => ({
  ...after.approved,
  refundedAmount: status === 'approved' ? 250 : 0,
  refunds: [
    {
      token: exampleRefund.refundToken,
      amount: 250,
      status,
      phase,
      createdAt: example.instant,
      updatedAt: example.instant,
    },
  ],
});

export const paymentEvents = {
  PaymentRequested: publicEvent(
    'A team requested a payment. Nothing has been sent to the Payment Service yet.',
    {
      both: {
        kind: oneOf(termsSchema.shape.kind.options, 'How the customer pays.'),
        ...paymentTerms.both,
        attempt,
      },
      inAnswers: paymentTerms.inAnswers,
      from: ({ terms, attempt: announced }: PaymentEventOf<'PaymentRequested'>['data']) => ({
        ...terms,
        attempt: announced,
      }),
    },
    {
      kind: 'hosted',
      product: 'Tea for two',
      amount: 1250,
      currency: 'EUR',
      orderNumber: 'order-1',
      needConfirmation: false,
      attempt: exampleAttempt,
    },
  ),
  PaymentAdopted: publicEvent(
    'An operator adopted the payment for the team, as the Payment Service showed it. The gateway has announced and called nothing.',
    {
      both: adoptedTerms,
      inAnswers: { callbackUrl: paymentTerms.inAnswers.callbackUrl },
      from: ({ terms, recurringToken }: PaymentEventOf<'PaymentAdopted'>['data']) => ({
        ...terms,
        recurringToken,
      }),
    },
    {
      product: 'Tea for two',
      amount: 1250,
      currency: 'EUR',
      orderNumber: 'order-1',
      needConfirmation: false,
    },
    { ...after.approved, createdAt: '2029-12-01T12:00:00.000Z', revision: 0 },
  ),
  AttemptAccepted: publicEvent(
    'The Payment Service accepted the payment.',
    {
      both: { attemptNumber, source: outcomeSource },
      from: ({ attemptNumber: accepted, evidence }: PaymentEventOf<'AttemptAccepted'>['data']) => ({
        attemptNumber: accepted,
        source: evidence,
      }),
    },
    { attemptNumber: 1, source: 'answer' },
    after.init,
  ),
  AttemptRefused: publicEvent(
    'The Payment Service refused the attempt; no money moved.',
    { both: { attemptNumber, errors } },
    { attemptNumber: 1, errors: [example.refusal] },
  ),
  AttemptNotSent: publicEvent(
    'The attempt was provably never sent.',
    { both: { attemptNumber, reason } },
    { attemptNumber: 1, reason: 'connection refused' },
  ),
  AttemptUnresolved: publicEvent(
    'The attempt was sent and its answer was lost. The gateway inquires about its status.',
    { both: { attemptNumber, reason } },
    { attemptNumber: 1, ...timeout },
    after.unresolved,
  ),
  AttemptNotFound: publicEvent(
    'The Payment Service does not show the attempt after the quiet period.',
    { both: { attemptNumber } },
    { attemptNumber: 1 },
    after.unresolved,
  ),
  AttemptStarted: publicEvent(
    'A further attempt was started, with its own order number.',
    { both: { attempt } },
    { attempt: { ...exampleAttempt, number: 2, providerOrderNumber: `${example.paymentToken}.2` } },
  ),
  PaymentPending: publicEvent(
    'The customer started to pay.',
    { both: {} },
    {},
    {
      status: 'pending',
      phase: 'pending',
    },
  ),
  PaymentAuthorized: publicEvent(
    'The money is authorized until the team captures or voids it.',
    { both: { authorizedAmount: amount, ...mask } },
    { authorizedAmount: 1250, ...exampleMask },
    inTwoSteps('authorized'),
  ),
  PaymentApproved: publicEvent(
    'The payment was approved.',
    { both: { amount, ...mask } },
    { amount: 1250, ...exampleMask },
    after.approved,
  ),
  PaymentDeclined: publicEvent(
    'The payment was declined.',
    { both: { declineReason: declineReason.exactOptional(), ...mask } },
    { declineReason: 'insufficient funds', ...exampleMask },
    { status: 'declined', phase: 'declined', declineReason: 'insufficient funds', ...exampleMask },
  ),
  PaymentVoided: publicEvent(
    'The authorization was voided: nothing was captured, and the reserved money is released.',
    { both: mask },
    exampleMask,
    { ...inTwoSteps('voided'), status: 'declined', heldAmount: 0 },
  ),
  PaymentExpired: publicEvent(
    'The customer did not pay in time.',
    { both: {} },
    {},
    {
      status: 'expired',
      phase: 'expired',
    },
  ),
  PaymentFailed: publicEvent(
    'No attempt is left, and nothing was charged.',
    { both: { reason: oneOf(paymentFailureSchema.options) } },
    { reason: 'refused' },
    { status: 'declined', phase: 'failed', errors: [example.refusal] },
  ),
  CaptureSubmitted: publicEvent(
    'The team requested the capture. The gateway is about to call the Payment Service.',
    { both: { sendBy } },
    { sendBy: example.sendBy },
    inTwoSteps('capturing'),
  ),
  CaptureRefused: publicEvent(
    'The Payment Service refused the capture.',
    { both: refusedCall },
    exampleRefusal,
    inTwoSteps('authorized'),
  ),
  CaptureUnresolved: publicEvent(
    'The answer to the capture was lost. The gateway inquires about its status.',
    { both: { reason } },
    timeout,
    inTwoSteps('capturing'),
  ),
  VoidSubmitted: publicEvent(
    'The team requested the void. The gateway is about to call the Payment Service.',
    { both: { sendBy } },
    { sendBy: example.sendBy },
    inTwoSteps('voiding'),
  ),
  VoidRefused: publicEvent(
    'The Payment Service refused the void.',
    { both: refusedCall },
    exampleRefusal,
    inTwoSteps('authorized'),
  ),
  VoidUnresolved: publicEvent(
    'The answer to the void was lost. The gateway inquires about its status.',
    { both: { reason } },
    timeout,
    inTwoSteps('voiding'),
  ),
  RefundSubmitted: publicEvent(
    'The team requested a refund, and its amount is reserved. The gateway is about to call the Payment Service.',
    { both: { refundToken, amount, metadata: metadata.exactOptional(), sendBy } },
    { ...exampleRefund, amount: 250, sendBy: example.sendBy },
    withRefund('pending', 'submitted'),
  ),
  RefundAccepted: publicEvent(
    'The Payment Service accepted the refund and has not decided it yet.',
    { both: { refundToken } },
    exampleRefund,
    withRefund('pending', 'accepted'),
  ),
  RefundApproved: publicEvent(
    'The refund was approved.',
    { both: { refundToken } },
    exampleRefund,
    withRefund('approved', 'approved'),
  ),
  RefundDeclined: publicEvent(
    'The refund failed; its amount is no longer reserved.',
    { both: { refundToken, ...refusedCall } },
    { ...exampleRefund, ...exampleRefusal },
    withRefund('declined', 'declined'),
  ),
  RefundUnresolved: publicEvent(
    'The answer to the refund was lost, and its amount stays reserved. The gateway inquires about its status.',
    { both: { refundToken, reason } },
    { ...exampleRefund, ...timeout },
    withRefund('pending', 'unresolved'),
  ),
  RefundDeclineReported: publicEvent(
    'A callback reported that a refund was declined. The gateway inquires about the refund.',
    { both: {} },
    {},
    withRefund('pending', 'submitted'),
  ),
  ExternalRefundObserved: publicEvent(
    'Money was refunded outside the gateway.',
    { both: { amount } },
    { amount: 250 },
    { ...after.approved, refundedAmount: 250 },
  ),
  FinalStatusRevised: publicEvent(
    'The Payment Service changed a final status.',
    {
      both: {
        from: paymentStatusSchema,
        to: paymentStatusSchema,
        amount: amount
          .exactOptional()
          .describe('The approved amount after a revision to `approved`, in minor units.'),
        declineReason: declineReason.exactOptional(),
      },
    },
    { from: 'declined', to: 'approved', amount: 1250 },
    after.approved,
  ),
  AdoptionDeclaredPayable: publicEvent(
    'An operator declared the money of the adopted payment payable.',
    { both: {} },
    {},
    after.approved,
  ),
  DisputeOpened: publicEvent(
    "The customer's bank wants money back. It cannot be refunded or paid out until the bank decides.",
    { both: dispute },
    exampleDispute,
    { ...after.approved, disputedAmount: 1250, reviews: [{ code: 'dispute_opened' }] },
  ),
  DisputeChanged: publicEvent(
    'The bank changed the amount of an open dispute.',
    { both: dispute },
    { ...exampleDispute, amount: 500 },
    { ...after.approved, disputedAmount: 500, reviews: [{ code: 'dispute_opened' }] },
  ),
  DisputeWon: publicEvent(
    'The bank decided in your favor: you keep the money.',
    { both: dispute },
    exampleDispute,
    after.approved,
  ),
  DisputeLost: publicEvent(
    'The bank decided for its customer: the money is lost.',
    { both: dispute },
    exampleDispute,
    { ...after.approved, lostAmount: 1250 },
  ),
  RecurringTokenIssued: publicEvent(
    'The payment returned a recurring token for later charges of this customer.',
    { both: { recurringToken: z.string() } },
    { recurringToken: 'rec_7v3ntq2kzb5y6hcx' },
    { ...after.approved, recurringToken: 'rec_7v3ntq2kzb5y6hcx' },
  ),
  ...callbackEvents(after.approved),
  ...reviewEvents(reviewCodes, after.approved),
} satisfies Record<PaymentEventType, PublicEvent>;

/**
 * An event's data without the fingerprint, the provider's tokens, the account, the customer and URLs with secrets: the
 * fields of its schema, and nothing else.
 */
export const toPublicEventData = ({ type, data }: PaymentEvent): Record<string, unknown> =>
  paymentEvents[type].toAnswer(data);
