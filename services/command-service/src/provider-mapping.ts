/** Between the domain's words and the Payment Service's. */
import type {
  CallOutcome,
  CreatePaymentAnswer,
  CreatePaymentRequest,
  ServicePayment,
} from '@tollgate/payment-api';
import type { CreationOutcome, ObservedPayment, Payment } from '@tollgate/payment-domain';
import { given } from '@tollgate/service-kit';

/** The request of the payment's current attempt. The team's order number and callback address stay with us. */
export function toCreateRequest({ terms, attempt }: Payment, callbackUrl: string): CreatePaymentRequest {
  const {
    product,
    amount,
    currency,
    redirectSuccessUrl,
    redirectFailUrl,
    locale,
    needConfirmation,
    customer,
  } = terms;
  return {
    ...given({ redirectSuccessUrl, redirectFailUrl, locale, customer }),
    ...(needConfirmation ? { needConfirmation } : {}),
    ...{ product, amount, currency, callbackUrl, orderNumber: attempt.providerOrderNumber },
  };
}

export function fromCreationOutcome(outcome: CallOutcome<CreatePaymentAnswer>): CreationOutcome {
  if (outcome.kind !== 'accepted') return outcome;
  const { token, processingUrl, payment } = outcome.answer;
  const { amount, currency } = payment ?? {};
  return { kind: 'accepted', serviceToken: token, ...given({ processingUrl, amount, currency }) };
}

export function fromServicePayment(payment: ServicePayment): ObservedPayment {
  const { token, status, amount, currency } = payment;
  const optional = {
    orderNumber: payment.orderNumber ?? undefined,
    processingUrl: payment.processingUrl ?? undefined,
    sanitizedMask: payment.sanitizedMask ?? undefined,
    declineReason: payment.declineReason ?? undefined,
  };
  const sums = { heldAmount: payment.heldAmount ?? 0, refundedAmount: payment.refundedAmount ?? 0 };
  return { serviceToken: token, status, amount, currency, ...sums, ...given(optional) };
}
