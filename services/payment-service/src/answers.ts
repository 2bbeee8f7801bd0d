/** The service's answers: maps records and refusals to bodies and HTTP statuses. */
import type { ApiError } from '@tollgate/core/money';
import {
  type CreatePaymentAnswer,
  type ServiceDispute,
  type ServicePayment,
  statusOf,
} from '@tollgate/payment-api';
import { omitUndefined } from '@tollgate/service-kit';
import type { Payment } from './payments.ts';
import type { Dispute, Payout, Refund } from './storage/tables.ts';

export interface Answer {
  statusCode: number;
  body: object;
}

/** The error body of section 7; the HTTP status follows the first error. */
export const refusal = (...errors: ApiError[]): Answer => ({
  statusCode: statusOf(errors[0]?.code ?? ''),
  body: { success: false, errors },
});

export const success = (body: object): Answer => ({ statusCode: 200, body: { success: true, ...body } });

/** Returns the address of the page where a payment's customer continues; undefined if no customer is needed. */
export type ProcessingUrl = (payment: Payment) => string | undefined;

export function creationAnswer(payment: Payment, processingUrl: ProcessingUrl): Answer {
  const { token, amount, currency, status } = payment;
  const body: CreatePaymentAnswer = {
    success: true,
    token,
    ...omitUndefined({ processingUrl: processingUrl(payment) }),
    payment: { amount, currency, status },
  };
  return { statusCode: 200, body };
}

/** A payment as merchants see it: parameters not given are null, results that do not exist yet are omitted. */
export function toServicePayment(payment: Payment, processingUrl: ProcessingUrl): ServicePayment {
  const { recurringToken, sanitizedMask, declineReason } = payment;
  return {
    token: payment.token,
    status: payment.status,
    product: payment.product,
    amount: payment.amount,
    currency: payment.currency,
    orderNumber: payment.orderNumber ?? null,
    callbackUrl: payment.callbackUrl,
    redirectSuccessUrl: payment.redirectSuccessUrl ?? null,
    redirectFailUrl: payment.redirectFailUrl ?? null,
    locale: payment.locale === '' ? 'en' : payment.locale,
    needConfirmation: payment.needConfirmation,
    heldAmount: payment.heldAmount,
    refundedAmount: payment.refundedAmount,
    ...omitUndefined({ processingUrl: processingUrl(payment) }),
    ...omitUndefined({ recurringToken, sanitizedMask, declineReason }),
    ...timesOf(payment),
  };
}

/** A refund has its own token, also at the top level of the answer. */
export function refundAnswer({ token, amount, currency, status }: Refund): Answer {
  return success({ token, refund: { token, amount, currency, status } });
}

export function payoutAnswer({ token, amount, currency, orderNumber, status }: Payout): Answer {
  return success({ payout: { token, amount, currency, orderNumber, status } });
}

/** A payout among payments, distinguished by `operationType`. */
export function toListedPayout(payout: Payout): ServicePayment {
  const { sanitizedMask, declineReason } = payout;
  return {
    token: payout.token,
    operationType: 'payout',
    status: payout.status,
    amount: payout.amount,
    currency: payout.currency,
    orderNumber: payout.orderNumber,
    callbackUrl: payout.callbackUrl ?? null,
    ...omitUndefined({ sanitizedMask, declineReason }),
    ...timesOf(payout),
  };
}

/** A dispute as merchants see it. */
export const toServiceDispute = ({
  merchantId: _,
  orderNumber: __,
  ...dispute
}: Dispute): ServiceDispute => ({ ...dispute, ...timesOf(dispute) });

const timesOf = ({ createdAt, updatedAt }: Pick<Payment, 'createdAt' | 'updatedAt'>) => ({
  createdAt: toIsoTime(createdAt),
  updatedAt: toIsoTime(updatedAt),
});

/** Milliseconds since the Unix epoch as ISO 8601 in UTC. */
export const toIsoTime = (time: number): string => new Date(time).toISOString();
