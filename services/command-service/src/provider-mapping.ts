/** Between the domain's words and the Payment Service's. */
import {
  type CallOutcome,
  type CreatePaymentAnswer,
  type CreatePaymentRequest,
  type PayoutAnswer,
  type RefundAnswer,
  type ServicePayment,
  type ServicePayout,
  containsCardNumber,
  httpUrlSchema,
} from '@tollgate/payment-api';
import type {
  CreationOutcome,
  ObservedPayment,
  ObservedPayout,
  Payment,
  PayoutOutcome,
  RefundOutcome,
  CaptureOrVoidOutcome,
} from '@tollgate/payment-domain';
import { InvariantViolation, given } from '@tollgate/service-kit';
import type { CallSecrets } from './calls/payment-calls.ts';

/** The request of the payment's current attempt. The team's order number and callback address stay with us. */
export function toCreateRequest(
  { terms, attempt }: Payment,
  callbackUrl: string,
  secrets: CallSecrets,
): CreatePaymentRequest {
  const { product, amount, currency, redirectSuccessUrl, redirectFailUrl, locale, needConfirmation } = terms;
  const { kind, customer, recurring } = terms;
  const { card, serviceRecurringToken: recurringToken } = secrets;
  // Without what is charged, the call would ask for something else: a page.
  if ((kind === 'card') !== (card !== undefined) || (kind === 'recurring') !== (recurringToken !== undefined))
    throw new InvariantViolation('a call is without what it is to charge');
  return {
    ...given({ redirectSuccessUrl, redirectFailUrl, locale, customer, card, recurringToken }),
    ...(needConfirmation ? { needConfirmation } : {}),
    ...(recurring === true ? { recurring } : {}),
    ...{ product, amount, currency, callbackUrl, orderNumber: attempt.providerOrderNumber },
  };
}

export function fromCreationOutcome(outcome: CallOutcome<CreatePaymentAnswer>): CreationOutcome {
  if (isRepeatedOrderNumber(outcome)) return { kind: 'unknown', reason: 'the order number exists already' };
  if (outcome.kind !== 'accepted') return outcome;
  const { token, processingUrl, payment } = outcome.answer;
  const { amount, currency } = payment ?? {};
  return { kind: 'accepted', serviceToken: token, ...given({ processingUrl, amount, currency }) };
}

/** Our numbers are unique: what exists already is this very call, delivered a second time on its way. A look finds it. */
const isRepeatedOrderNumber = (outcome: CallOutcome<unknown>): boolean =>
  outcome.kind === 'refused' && outcome.errors.some(({ code }) => code === 'order_number_already_exists');

export function fromCaptureOrVoidOutcome(
  outcome: CallOutcome<ServicePayment | undefined>,
): CaptureOrVoidOutcome {
  if (outcome.kind !== 'accepted') return outcome;
  const { answer } = outcome;
  return { kind: 'accepted', ...given({ observed: answer && fromServicePayment(answer) }) };
}

export function fromRefundOutcome(outcome: CallOutcome<RefundAnswer>): RefundOutcome {
  if (outcome.kind !== 'accepted') return outcome;
  const { token, amount, currency, status } = outcome.answer.refund;
  return { kind: 'accepted', serviceRefundToken: token, amount, currency, status };
}

const withoutCardNumber = (text: string | null | undefined): string | undefined =>
  text === null || text === undefined || containsCardNumber(text) ? undefined : text;

export function fromServicePayment(payment: ServicePayment): ObservedPayment {
  const { token, status, amount, currency } = payment;
  const optional = {
    orderNumber: payment.orderNumber ?? undefined,
    // A page that is none must not keep the payment's status from us.
    processingUrl: httpUrlSchema.safeParse(payment.processingUrl).data,
    sanitizedMask: withoutCardNumber(payment.sanitizedMask),
    declineReason: withoutCardNumber(payment.declineReason),
  };
  const sums = { heldAmount: payment.heldAmount ?? 0, refundedAmount: payment.refundedAmount ?? 0 };
  return { serviceToken: token, status, amount, currency, ...sums, ...given(optional) };
}

export function fromPayoutOutcome(outcome: CallOutcome<PayoutAnswer>): PayoutOutcome {
  if (isRepeatedOrderNumber(outcome)) return { kind: 'unknown', reason: 'the order number exists already' };
  if (outcome.kind !== 'accepted') return outcome;
  const { token, amount, currency, status } = outcome.answer.payout;
  return { kind: 'accepted', serviceToken: token, amount, currency, status };
}

export function fromServicePayout(payout: ServicePayout): ObservedPayout {
  const { token, status, amount, currency } = payout;
  const optional = {
    orderNumber: payout.orderNumber ?? undefined,
    declineReason: withoutCardNumber(payout.declineReason),
  };
  return { serviceToken: token, status, amount, currency, ...given(optional) };
}
