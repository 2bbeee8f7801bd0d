/** The Payment Service behind the port: requests and answers in its terms, outcomes in ours. */
import {
  containsCardNumber,
  maskedText,
  type CallOutcome,
  type ObservedDispute,
  type ObservedPayout,
  type AuthorizeRequest,
  type ComparablePayment,
  type FoundDispute,
  type FoundPayment,
  type InquiryOutcome,
  type Provider,
} from '@tollgate/core';
import {
  pageUrlSchema,
  type CreatePaymentRequest,
  type ServiceDispute,
  type ServicePayment,
  type ServicePayout,
} from '@tollgate/payment-api';
import type { ApiError } from '@tollgate/core/money';
import { omitUndefined } from '@tollgate/service-kit';
import type { ComparableRow } from './answers.ts';
import type { ServiceOutcome } from './classify.ts';
import type { PaymentServiceClientOptions } from './client-options.ts';
import { createPaymentServiceClient } from './client.ts';

/** @throws PaymentServiceClientError if an option is unusable; plain HTTP is refused here. */
export function createPaymentService(options: PaymentServiceClientOptions): Provider {
  const client = createPaymentServiceClient(options);
  return {
    authorize: async (request, maySend) =>
      ended(
        await client.createPayment(toCreateRequest(request), maySend, request.answerWithinMs),
        ({ token, processingUrl, payment }) => ({
          serviceToken: token,
          ...omitUndefined({ processingUrl, amount: payment?.amount, currency: payment?.currency }),
        }),
      ),
    capture: async (serviceToken, maySend) =>
      ended(await client.confirmPayment(serviceToken, maySend), toObservedIfShown),
    void: async (serviceToken, maySend) =>
      ended(await client.declinePayment(serviceToken, maySend), toObservedIfShown),
    refund: async ({ serviceToken, amount }, maySend) =>
      ended(await client.refundPayment({ token: serviceToken, amount }, maySend), ({ refund }) => {
        const { token, currency, status } = refund;
        return { serviceRefundToken: token, amount: refund.amount, currency, status };
      }),
    payout: async (request, maySend) =>
      ended(await client.createPayout(request, maySend), ({ payout }) => toPayout(payout)),
    inquirePayment: async (token) => inquired(await client.retrievePayment(token), toFound),
    inquirePayout: async (token) => inquired(await client.retrievePayout(token), toPayout),
    listPayments: async ({ orderNumber }) =>
      inquired(await client.listPayments({ orderNumber }), (all) => all.map(toFound)),
    listPayouts: async (query) => inquired(await client.listPayouts(query), (all) => all.map(toPayout)),
    pageOfPayments: async (query) =>
      inquired(await client.pageOfPayments(query), (page) => ({
        ...page,
        found: page.found.map(toComparable),
      })),
    pageOfPayouts: async (query) =>
      inquired(await client.pageOfPayouts(query), (page) => ({ ...page, found: page.found.map(toPayout) })),
    balance: async (currency) =>
      inquired(await client.retrieveBalance(currency), ({ available, hold }) => ({
        currency,
        available,
        hold,
      })),
    listDisputes: async () =>
      inquired(await client.listDisputes(), ({ found, unreadable }) => ({
        found: found.map(toFoundDispute),
        unreadable,
      })),
    close: client.close,
  };
}

function toCreateRequest(asked: AuthorizeRequest) {
  const { isCaptureDeferred, isRecurring, source, answerWithinMs: _, ...request } = asked;
  return {
    ...request,
    ...source,
    ...(isCaptureDeferred ? { needConfirmation: true } : {}),
    ...(isRecurring ? { recurring: true } : {}),
  } satisfies CreatePaymentRequest;
}

const accountErrorKinds: readonly string[] = ['authentication_error', 'settings_error'];

function ended<Answer, Known extends object>(
  outcome: ServiceOutcome<Answer>,
  toKnown: (answer: Answer) => Known,
): CallOutcome<Known> {
  if (outcome.kind === 'accepted') return { ...toKnown(outcome.answer), kind: 'accepted' };
  if (outcome.kind !== 'refused') return outcome;
  const { errors } = outcome;
  if (errors.some(isAboutOrderNumber)) return { kind: 'unknown', reason: 'the order number was refused' };
  const isAccountRefused = errors.some(({ kind }) => accountErrorKinds.includes(kind));
  return { kind: 'refused', errors, ...(isAccountRefused ? { isAccountRefused } : {}) };
}

/**
 * Our numbers are unique and well formed: an invalid one already exists, by this very call, delivered twice. An inquiry finds
 * it. Section 7 lists no codes, so the
 * parameter counts as well.
 */
const isAboutOrderNumber = ({ code, parameter }: ApiError): boolean =>
  code === 'order_number_already_exists' || parameter === 'orderNumber';

function inquired<Answer, Known>(
  outcome: ServiceOutcome<Answer>,
  toKnown: (answer: Answer) => Known,
): InquiryOutcome<Known> {
  const isMissing =
    outcome.kind === 'refused' && outcome.errors.some(({ code }) => code === 'payment_not_found');
  return isMissing ? { kind: 'missing' } : ended(outcome, (answer) => ({ answer: toKnown(answer) }));
}

const toObservedIfShown = (payment: ServicePayment | undefined) =>
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

function toComparable({ amount, currency, ...payment }: ComparableRow): ComparablePayment {
  const found = toFound(payment);
  return { ...found, observed: { ...found.observed, amount, currency } };
}

function toFound(payment: ServicePayment): FoundPayment {
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

function toPayout(payout: ServicePayout): ObservedPayout {
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

function toFoundDispute(dispute: ServiceDispute): FoundDispute {
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
