/** Translates the Payment Service's records into our terms. */
import {
  type ComparablePayment,
  type FoundDispute,
  type FoundPayment,
  type ObservedDispute,
  type ObservedPayout,
} from '@tollgate/core';
import {
  pageUrlSchema,
  type CreatePaymentAnswer,
  type RefundAnswer,
  type ServiceDispute,
  type ServicePayment,
  type ServicePayout,
} from '@tollgate/payment-api';
import { omitUndefined, containsCardNumber, maskedText } from '@tollgate/service-kit';
import type { ComparableRow } from './answers.ts';

export const toAuthorization = ({ token, processingUrl, payment }: CreatePaymentAnswer) => ({
  serviceToken: token,
  ...omitUndefined({ processingUrl, amount: payment?.amount, currency: payment?.currency }),
});

export const toRefund = ({ refund: { token, amount, currency, status } }: RefundAnswer) => ({
  serviceRefundToken: token,
  amount,
  currency,
  status,
});

export const toObservedIfShown = (payment: ServicePayment | undefined) =>
  payment === undefined ? {} : { observed: toFound(payment).observed };

/** Reasons and products are shorter. */
const textLengthMax = 1_000;

const masked = (text: string | null | undefined): string | undefined =>
  text === null || text === undefined ? undefined : maskedText(text, textLengthMax);

/** A token that is a card number is not kept, not even encrypted: the card can then not be charged again. */
const unlessCardNumber = (token: string | null | undefined): string | undefined =>
  token === null || token === undefined || containsCardNumber(token) ? undefined : token;

/** As the service shows it, but never more digits than are hidden: at most the first six and last four of 14. */
const toMask = (text: string | null | undefined): string | undefined =>
  masked(text)?.replace(/^\d{6}(\D{2,4}\d{4})$/, '******$1');

/** A time of day with its zone at the end; without one it would be read in the zone of this process. */
const zonedTime = /:\d\d(\.\d+)? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)$/i;

/** Undefined for an invalid time: it proves nothing. Nothing is specified about times. */
function toInstant(text: string | null | undefined): number | undefined {
  const instant = zonedTime.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  return Number.isNaN(instant) ? undefined : instant;
}

export function toComparable({ amount, currency, ...payment }: ComparableRow): ComparablePayment {
  const found = toFound(payment);
  return { ...found, observed: { ...found.observed, amount, currency } };
}

export function toFound(payment: ServicePayment): FoundPayment {
  const { token, status } = payment;
  const optional = {
    orderNumber: payment.orderNumber ?? undefined,
    // A page that customers must not be sent to does not keep the payment's status from us.
    processingUrl: pageUrlSchema.safeParse(payment.processingUrl).data,
    sanitizedMask: toMask(payment.sanitizedMask),
    declineReason: masked(payment.declineReason),
    createdAt: toInstant(payment.createdAt),
    amount: payment.amount ?? undefined,
    currency: payment.currency ?? undefined,
    // A missing sum is not 0.
    authorizedAmount: payment.heldAmount ?? undefined,
    refundedAmount: payment.refundedAmount ?? undefined,
  };
  return {
    observed: { serviceToken: token, status, ...omitUndefined(optional) },
    ...omitUndefined({
      recurringToken: unlessCardNumber(payment.recurringToken),
      callbackUrl: payment.callbackUrl ?? undefined,
      product: masked(payment.product),
    }),
  };
}

export function toPayout(payout: ServicePayout): ObservedPayout {
  const { token, status, amount, currency } = payout;
  const optional = {
    orderNumber: payout.orderNumber ?? undefined,
    declineReason: masked(payout.declineReason),
    createdAt: toInstant(payout.createdAt),
  };
  return { serviceToken: token, status, amount, currency, ...omitUndefined(optional) };
}

/** The specification lists no values: those of the sandbox, from the view of the customer's claim, and plain words. */
const disputeStates: ReadonlyMap<string, ObservedDispute['state']> = new Map([
  ['pending', 'open'],
  ['open', 'open'],
  ['approved', 'lost'],
  ['lost', 'lost'],
  ['declined', 'won'],
  ['won', 'won'],
]);

export function toFoundDispute(dispute: ServiceDispute): FoundDispute {
  const { id, amount, currency, status, type, reasonCode, comment, createdAt, token } = dispute;
  const optional = {
    type: type ?? undefined,
    reasonCode: reasonCode ?? undefined,
    comment: comment ?? undefined,
    openedAt: toInstant(createdAt),
  };
  const observed: ObservedDispute = {
    id: String(id),
    amount,
    currency,
    status,
    state: disputeStates.get(status.toLowerCase()) ?? 'unknown',
    ...omitUndefined(optional),
  };
  return { observed, ...omitUndefined({ serviceToken: token || undefined }) };
}
