/** Histories of payments for specs. Every secret value is marked with {@link planted}. */
import type { RecordedEvent } from '@tollgate/event-store';
import {
  evolve,
  paymentStream,
  type Environment,
  type PaymentEvent,
  type PaymentEventOf,
} from '@tollgate/core';
import fc from 'fast-check';
import {
  discrepancyOpened,
  historiesOf,
  planted,
  reviewAnswers,
  startedAt,
  toRecordedIn,
} from './histories.ts';

const attempt = (number: number) => ({
  number,
  account: `account-${planted}`,
  providerOrderNumber: `pay_1.${number}`,
  sendBy: startedAt + 1_000,
  answerBy: startedAt + 11_000,
  quietUntil: startedAt + 60_000,
});

export interface RequestedOptions {
  team?: string;
  environment?: Environment;
  currency?: string;
  orderNumber?: string;
  recurring?: boolean;
  recurringToken?: string;
  metadata?: Record<string, string>;
}

export function requested(options: RequestedOptions = {}): PaymentEvent {
  const { team = 'shop', environment = 'sandbox', currency = 'EUR', ...others } = options;
  const terms = {
    kind: 'hosted' as const,
    product: 'Tea',
    amount: 1_500,
    currency,
    needConfirmation: false,
    ...others,
    customer: { email: `${planted}@example.com`, ip: '192.0.2.1' },
  };
  const fingerprint = `fingerprint-${planted}`;
  const owner = { environment, team, wallet: `team-${team}`, askedBy: 'k1' };
  return { type: 'PaymentRequested', data: { ...owner, terms, fingerprint, attempt: attempt(1) } };
}

const serviceToken = `${planted}-service-token-1234`;
export const processingUrl = 'https://pay.example/checkout/1';
const error = { code: 'incorrect_private_key', kind: 'authentication_error', message: `key ${planted}` };
const refusal = { code: 'invalid_param', kind: 'invalid_request_error', message: 'no', parameter: 'product' };
const call = { sendBy: startedAt, answerBy: startedAt, quietUntil: startedAt };

/** A payment that was made before Tollgate, a day before {@link startedAt}. */
export const adopted = (
  status: PaymentEventOf<'PaymentAdopted'>['data']['status'] = 'approved',
  orderNumber = 'shop-1',
): PaymentEventOf<'PaymentAdopted'> => ({
  type: 'PaymentAdopted',
  data: {
    environment: 'sandbox',
    team: 'shop',
    wallet: 'team-shop',
    account: `account-${planted}`,
    serviceToken,
    terms: {
      kind: 'hosted',
      product: 'Tea',
      amount: 1_500,
      currency: 'EUR',
      needConfirmation: false,
      orderNumber,
    },
    providerOrderNumber: orderNumber,
    createdAt: startedAt - 86_400_000,
    status,
    authorizedAmount: 0,
    refundedAmount: status === 'approved' ? 400 : 0,
  },
});

/** One of each, by short names. */
export const happening = {
  accepted: {
    type: 'AttemptAccepted',
    data: { attemptNumber: 1, serviceToken, processingUrl, evidence: 'answer' },
  },
  refused: { type: 'AttemptRefused', data: { attemptNumber: 1, errors: [error, refusal] } },
  notSent: { type: 'AttemptNotSent', data: { attemptNumber: 1, reason: 'ECONNREFUSED' } },
  unresolved: { type: 'AttemptUnresolved', data: { attemptNumber: 1, reason: 'timeout' } },
  notFound: { type: 'AttemptNotFound', data: { attemptNumber: 1 } },
  started: { type: 'AttemptStarted', data: { attempt: attempt(2) } },
  pending: { type: 'PaymentPending', data: {} },
  held: { type: 'PaymentAuthorized', data: { authorizedAmount: 1_500, sanitizedMask: '439296******1251' } },
  approved: { type: 'PaymentApproved', data: { amount: 1_500, sanitizedMask: '439296******1251' } },
  declined: { type: 'PaymentDeclined', data: { declineReason: 'insufficient funds' } },
  voided: { type: 'PaymentVoided', data: { sanitizedMask: '439296******1251' } },
  expired: { type: 'PaymentExpired', data: {} },
  failed: { type: 'PaymentFailed', data: { reason: 'refused' } },
  confirming: { type: 'CaptureSubmitted', data: call },
  captureRefused: { type: 'CaptureRefused', data: { errors: [error], reason: 'refused' } },
  captureUnresolved: { type: 'CaptureUnresolved', data: { reason: 'timeout' } },
  declining: { type: 'VoidSubmitted', data: call },
  voidRefused: { type: 'VoidRefused', data: { errors: [error], reason: 'refused' } },
  voidUnresolved: { type: 'VoidUnresolved', data: { reason: 'timeout' } },
  refunding: {
    type: 'RefundSubmitted',
    data: {
      refundToken: 'ref_1',
      amount: 500,
      askedBy: 'k1',
      askedAt: startedAt,
      fingerprint: `fingerprint-${planted}`,
      ...call,
    },
  },
  refundAccepted: {
    type: 'RefundAccepted',
    data: { refundToken: 'ref_1', serviceRefundToken: `${planted}-service-refund-9876` },
  },
  refundApproved: {
    type: 'RefundApproved',
    data: { refundToken: 'ref_1', serviceRefundToken: `${planted}-service-refund-9876` },
  },
  refundDeclined: {
    type: 'RefundDeclined',
    data: { refundToken: 'ref_1', errors: [error], reason: 'refused' },
  },
  refundUnresolved: { type: 'RefundUnresolved', data: { refundToken: 'ref_1', reason: 'timeout' } },
  refundedElsewhere: { type: 'ExternalRefundObserved', data: { amount: 1_000 } },
  revised: { type: 'FinalStatusRevised', data: { from: 'declined', to: 'approved', amount: 1_400 } },
  declaredPayable: { type: 'AdoptionDeclaredPayable', data: {} },
  disputed: { type: 'DisputeOpened', data: { disputeToken: 'dsp_1', amount: 600, revision: 0 } },
  disputeChanged: { type: 'DisputeChanged', data: { disputeToken: 'dsp_1', amount: 500, revision: 1 } },
  disputeLost: { type: 'DisputeLost', data: { disputeToken: 'dsp_1', amount: 500, revision: 2 } },
  disputeWon: { type: 'DisputeWon', data: { disputeToken: 'dsp_1', amount: 500, revision: 3 } },
  recurringTokenIssued: { type: 'RecurringTokenIssued', data: { recurringToken: 'rec_1' } },
  callbackDeferred: { type: 'CallbackDeferred', data: { serviceToken, deferredAt: startedAt } },
  callbackInquired: { type: 'CallbackInquired', data: { serviceToken } },
  reviews: discrepancyOpened(
    { kind: 'second_payment_found', operation: 'payment', serviceToken: `second-${serviceToken}` },
    1_500,
  ),
  ...reviewAnswers({ code: 'discrepancy', resolution: 'keep_ours' }),
} as const satisfies Record<string, PaymentEvent>;

/** Events in an order that the payment machine allows, beginning with a request or an adoption. */
export const anyHistory = fc.oneof(
  ...[requested(), adopted(), adopted('init')].map((first) =>
    historiesOf(first, Object.values<PaymentEvent>(happening), evolve),
  ),
);

/** Events as a store returns them, in the stream of one payment. */
export const toRecordedEvents = (events: readonly PaymentEvent[], token = 'pay_1'): RecordedEvent[] =>
  toRecordedIn(paymentStream(token), events);
