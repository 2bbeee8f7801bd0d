/** The data of a payment's events as its team sees it: one list of allowed fields for each type of event. */
import type { PaymentEvent, PaymentEventOf, PaymentEventType } from '@tollgate/payment-domain';
import { given } from '@tollgate/service-kit';
import { toPublicTerms } from './public-payment.ts';
import { toIso, toPublicErrors, toPublicEvidence } from './public-values.ts';

export type PublicEventData = Record<string, unknown>;

type Publishers = { [Type in PaymentEventType]: (data: PaymentEventOf<Type>['data']) => PublicEventData };

const attemptOf = ({
  number,
  providerOrderNumber,
  sendBy,
}: PaymentEventOf<'AttemptStarted'>['data']['attempt']) => ({
  number,
  providerOrderNumber,
  sendBy: toIso(sendBy),
});
const nothing = () => ({});
const sendByOf = ({ sendBy }: { sendBy: number }) => ({ sendBy: toIso(sendBy) });
const errorsOf = ({ errors, reason }: PaymentEventOf<'CaptureRefused'>['data']) => ({
  errors: toPublicErrors(errors),
  ...given({ reason }),
});
const reasonOf = ({ reason }: { reason: string }) => ({ reason });
const maskOf = ({ sanitizedMask }: { sanitizedMask?: string | undefined }) => given({ sanitizedMask });

const publishers: Publishers = {
  PaymentRequested: ({ terms, attempt }) => ({
    kind: terms.kind,
    ...toPublicTerms(terms),
    attempt: attemptOf(attempt),
  }),
  AttemptAccepted: ({ attemptNumber, evidence }) => ({ attemptNumber, evidence }),
  AttemptRefused: ({ attemptNumber, errors }) => ({ attemptNumber, errors: toPublicErrors(errors) }),
  AttemptNotSent: ({ attemptNumber, reason }) => ({ attemptNumber, reason }),
  AttemptUnresolved: ({ attemptNumber, reason }) => ({ attemptNumber, reason }),
  AttemptNotFound: ({ attemptNumber }) => ({ attemptNumber }),
  AttemptStarted: ({ attempt }) => ({ attempt: attemptOf(attempt) }),
  PaymentPending: nothing,
  PaymentAuthorized: (data) => ({ heldAmount: data.heldAmount, ...maskOf(data) }),
  PaymentApproved: (data) => ({ amount: data.amount, ...maskOf(data) }),
  PaymentDeclined: (data) => ({ ...given({ declineReason: data.declineReason }), ...maskOf(data) }),
  PaymentExpired: nothing,
  PaymentFailed: reasonOf,
  CaptureSubmitted: sendByOf,
  CaptureRefused: errorsOf,
  CaptureUnresolved: reasonOf,
  VoidSubmitted: sendByOf,
  VoidRefused: errorsOf,
  VoidUnresolved: reasonOf,
  RefundSubmitted: ({ refundToken, amount, sendBy }) => ({ refundToken, amount, sendBy: toIso(sendBy) }),
  RefundAccepted: ({ refundToken }) => ({ refundToken }),
  RefundApproved: ({ refundToken }) => ({ refundToken }),
  RefundDeclined: ({ refundToken, ...end }) => ({ refundToken, ...errorsOf(end) }),
  RefundUnresolved: ({ refundToken, reason }) => ({ refundToken, reason }),
  RefundDeclineReported: nothing,
  ExternalRefundObserved: ({ amount }) => ({ amount }),
  FinalStatusRevised: ({ from, to, amount, declineReason }) => ({
    from,
    to,
    ...given({ amount, declineReason }),
  }),
  RecurringTokenIssued: ({ recurringToken }) => ({ recurringToken }),
  ReviewOpened: ({ code, evidence }) => ({ code, evidence: toPublicEvidence(evidence) }),
  ReviewResolved: ({ code, resolution, reason, number }) => ({
    code,
    ...given({ number }),
    resolution,
    reason,
  }),
};

/**
 * An event's data without the fingerprint, tokens of the service, the account, the customer and pages with a secret in
 * their address.
 */
export function toPublicEventData(event: PaymentEvent): PublicEventData {
  const publish = publishers[event.type] as (data: PaymentEvent['data']) => PublicEventData;
  return publish(event.data);
}
