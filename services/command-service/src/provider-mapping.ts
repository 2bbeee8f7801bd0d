/** Between the domain's words and the Payment Service's. */
import { containsCardNumber, httpUrlSchema } from '@tollgate/payment-api';
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
  // Our numbers are unique: what exists already is this very call, delivered a second time on its way. A look finds it.
  if (outcome.kind === 'refused' && outcome.errors.some(({ code }) => code === 'order_number_already_exists'))
    return { kind: 'unknown', reason: 'the order number exists already' };
  if (outcome.kind !== 'accepted') return outcome;
  const { token, processingUrl, payment } = outcome.answer;
  const { amount, currency } = payment ?? {};
  return { kind: 'accepted', serviceToken: token, ...given({ processingUrl, amount, currency }) };
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
