/** The messages of `gateway.payments.v1`: what each event means, and an example of it. */
import type { paymentEventData } from '../consumer/payment-event-data.ts';
import type { RecordedPayment } from '../payment-records.ts';
import {
  type DescribedEvents,
  exampleInstant,
  examplePaymentToken,
  exampleSendBy as sendBy,
  refusalExample as noFunds,
} from './described-event.ts';

/** As it stands when it has just been requested. */
export const examplePayment: RecordedPayment = {
  ...{ token: examplePaymentToken, environment: 'sandbox', team: 'shop', status: 'init', phase: 'requested' },
  ...{
    product: 'Tea for two',
    amount: 1250,
    currency: 'EUR',
    orderNumber: 'order-1',
    needConfirmation: false,
  },
  ...{ heldAmount: 0, approvedAmount: 0, refundedAmount: 0, refunds: [], errors: [], reviews: [] },
  ...{ createdAt: exampleInstant, updatedAt: exampleInstant },
};

const attempt = { number: 1, providerOrderNumber: `${examplePaymentToken}.1`, sendBy };
const sanitizedMask = '439296******1251';
const refundToken = 'ref_5h2kq7ybz3v6n4tc';
const recurringToken = 'rec_7v3ntq2kzb5y6hcx';
const reviews = { code: 'final_status_revised' };

const init = { status: 'init', phase: 'init' } as const;
const unresolved = { status: 'init', phase: 'unresolved' } as const;
const captureOrVoids = {
  status: 'pending',
  needConfirmation: true,
  heldAmount: 1250,
  sanitizedMask,
} as const;
const held = { ...captureOrVoids, phase: 'authorized' } as const;
const approved = { status: 'approved', phase: 'approved', approvedAmount: 1250, sanitizedMask } as const;
const withRefund = (
  status: 'pending' | 'approved' | 'declined',
  phase: string,
): Partial<RecordedPayment> => ({
  ...approved,
  refundedAmount: status === 'approved' ? 250 : 0,
  refunds: [{ token: refundToken, amount: 250, status, phase }],
});

export const paymentEvents: DescribedEvents<typeof paymentEventData, RecordedPayment> = {
  PaymentRequested: {
    meaning: 'A team has asked for a payment. Nothing has been sent to the Payment Service yet.',
    data: {
      ...{ kind: 'hosted', product: 'Tea for two', amount: 1250, currency: 'EUR', orderNumber: 'order-1' },
      ...{ needConfirmation: false, attempt },
    },
    after: {},
  },
  AttemptAccepted: {
    meaning: 'The Payment Service has taken the payment on.',
    data: { attemptNumber: 1, evidence: 'answer' },
    after: init,
  },
  AttemptRefused: {
    meaning: 'The Payment Service has certainly refused the attempt.',
    data: { attemptNumber: 1, errors: [noFunds] },
    after: {},
  },
  AttemptNotSent: {
    meaning: 'The attempt has provably never left the gateway.',
    data: { attemptNumber: 1, reason: 'connection refused' },
    after: {},
  },
  AttemptUnresolved: {
    meaning: 'The attempt was sent, and its answer was lost: what became of it is being found out.',
    data: { attemptNumber: 1, reason: 'timeout' },
    after: unresolved,
  },
  AttemptNotFound: {
    meaning: 'The Payment Service does not show the attempt, after the time in which it would have.',
    data: { attemptNumber: 1 },
    after: unresolved,
  },
  AttemptStarted: {
    meaning: 'A further attempt, under a number of its own.',
    data: { attempt: { ...attempt, number: 2, providerOrderNumber: `${examplePaymentToken}.2` } },
    after: {},
  },
  PaymentPending: {
    meaning: 'The customer has begun to pay.',
    data: {},
    after: { status: 'pending', phase: 'pending' },
  },
  PaymentAuthorized: {
    meaning: 'The money is held, until the team confirms or declines.',
    data: { heldAmount: 1250, sanitizedMask },
    after: held,
  },
  PaymentApproved: {
    meaning: 'The payment is approved.',
    data: { amount: 1250, sanitizedMask },
    after: approved,
  },
  PaymentDeclined: {
    meaning: 'The payment is declined.',
    data: { declineReason: 'insufficient funds', sanitizedMask },
    after: {
      ...{ status: 'declined', phase: 'declined', declineReason: 'insufficient funds', sanitizedMask },
    },
  },
  PaymentExpired: {
    meaning: 'The customer has not paid in time.',
    data: {},
    after: { status: 'expired', phase: 'expired' },
  },
  PaymentFailed: {
    meaning: 'No attempt is left, and nothing was charged.',
    data: { reason: 'refused' },
    after: { status: 'declined', phase: 'failed', errors: [noFunds] },
  },
  CaptureSubmitted: {
    meaning: 'The team confirms: the Payment Service is about to be told so.',
    data: { sendBy },
    after: { ...captureOrVoids, phase: 'capturing' },
  },
  CaptureRefused: {
    meaning: 'The Payment Service does not take the confirmation.',
    data: { errors: [noFunds], reason: 'refused' },
    after: held,
  },
  CaptureUnresolved: {
    meaning: 'The answer to the confirmation was lost: what became of it is being found out.',
    data: { reason: 'timeout' },
    after: { ...captureOrVoids, phase: 'capturing' },
  },
  VoidSubmitted: {
    meaning: 'The team lets the money go: the Payment Service is about to be told so.',
    data: { sendBy },
    after: { ...captureOrVoids, phase: 'voiding' },
  },
  VoidRefused: {
    meaning: 'The Payment Service does not take the decline.',
    data: { errors: [noFunds], reason: 'refused' },
    after: held,
  },
  VoidUnresolved: {
    meaning: 'The answer to the decline was lost: what became of it is being found out.',
    data: { reason: 'timeout' },
    after: { ...captureOrVoids, phase: 'voiding' },
  },
  RefundSubmitted: {
    meaning: 'A refund: the Payment Service is about to be told. Its amount is reserved.',
    data: { refundToken, amount: 250, sendBy },
    after: withRefund('pending', 'submitted'),
  },
  RefundAccepted: {
    meaning: 'The Payment Service has the refund, and has not decided it.',
    data: { refundToken },
    after: withRefund('pending', 'accepted'),
  },
  RefundApproved: {
    meaning: 'The money is given back.',
    data: { refundToken },
    after: withRefund('approved', 'approved'),
  },
  RefundDeclined: {
    meaning: 'The refund was not made; its amount is free again.',
    data: { refundToken, errors: [noFunds], reason: 'refused' },
    after: withRefund('declined', 'declined'),
  },
  RefundUnresolved: {
    meaning:
      'The answer to the refund was lost: what became of it is being found out. Its amount stays reserved.',
    data: { refundToken, reason: 'timeout' },
    after: withRefund('pending', 'unresolved'),
  },
  RefundDeclineReported: {
    meaning:
      'The Payment Service has told of a refund that it declined, before it was known which one that is.',
    data: {},
    after: withRefund('pending', 'submitted'),
  },
  ExternalRefundObserved: {
    meaning: 'Money was given back outside the gateway.',
    data: { amount: 250 },
    after: { ...approved, refundedAmount: 250 },
  },
  FinalStatusRevised: {
    meaning: 'The Payment Service has changed a final status.',
    data: { from: 'declined', to: 'approved', amount: 1250 },
    after: approved,
  },
  RecurringTokenIssued: {
    meaning: 'Later payments of this customer can be charged with this recurring token.',
    data: { recurringToken },
    after: { ...approved, recurringToken },
  },
  ReviewOpened: {
    meaning: 'A person is needed.',
    data: { code: reviews.code, evidence: { from: 'declined', to: 'approved' } },
    after: { ...approved, reviews: [reviews] },
  },
  ReviewResolved: {
    meaning: 'What a person was needed for has ended.',
    data: { code: reviews.code, number: 1, resolution: 'acknowledged', reason: 'Seen at the bank.' },
    after: approved,
  },
};

/** What the fields of a payment mean. */
export const paymentFields: Record<keyof RecordedPayment, string> = {
  token: "The gateway's name of the payment, and the key of its records.",
  environment: '`sandbox` or `production`.',
  team: 'The team that asked for it.',
  status: "The specification's status.",
  phase: 'Tells more than the status; more phases may come.',
  product: 'What is bought.',
  amount: 'What was asked for, in minor units: 1250 is 12.50 EUR.',
  currency: 'ISO 4217 alphabetic code in capitals.',
  orderNumber: "The team's own number.",
  needConfirmation: 'True where the money is held until the team confirms or declines.',
  heldAmount: 'What is held at the moment, in minor units.',
  approvedAmount: 'What is approved, in minor units.',
  refundedAmount: 'What was given back, in minor units.',
  refunds: 'Its refunds, in the order in which they were asked for.',
  recurringToken: 'What later payments of this customer are charged with.',
  sanitizedMask: 'First and last digits of the card.',
  declineReason: 'Why it was declined.',
  errors: 'Of a payment that failed: what the Payment Service said.',
  reviews: 'What waits for a person.',
  createdAt: 'ISO 8601 in UTC.',
  updatedAt: 'When its last event was recorded. ISO 8601 in UTC.',
};
