import type { RecordedEvent } from '@tollgate/event-store';
import { type RecordedPayment, encodePaymentRecord } from '@tollgate/gateway-events';
import type { Message } from '@tollgate/message-bus';
import { decodePaymentEvent } from '@tollgate/payment-domain';
import { type PaymentView, toPublicEventData, toPublicPayment } from '@tollgate/views';
import { given } from '@tollgate/service-kit';
import { toEventOnTopic } from './event-on-topic.ts';

/** The record of an event. Built field by field: what is not named here never reaches a topic. */
export function toPaymentMessage(recorded: RecordedEvent, view: PaymentView): Message {
  const { event, origin } = toEventOnTopic(recorded, toPublicEventData(decodePaymentEvent(recorded)));
  return encodePaymentRecord({ event, payment: toRecordedPayment(view) }, origin);
}

function toRecordedPayment(view: PaymentView): RecordedPayment {
  const { environment, team } = view.payment;
  const shown = toPublicPayment(view);
  const { token, status, phase, product, amount, currency, orderNumber, needConfirmation } = shown;
  const { heldAmount, approvedAmount, refundedAmount, recurringToken, sanitizedMask, declineReason } = shown;
  const { errors, createdAt, updatedAt } = shown;
  return {
    ...{ token, environment, team, status, phase, product, amount, currency, needConfirmation },
    ...{ heldAmount, approvedAmount, refundedAmount, errors },
    ...given({ orderNumber, recurringToken, sanitizedMask, declineReason }),
    refunds: shown.refunds.map((refund) => ({
      token: refund.token,
      amount: refund.amount,
      status: refund.status,
      phase: refund.phase,
    })),
    reviews: shown.reviews.map(({ code }) => ({ code })),
    ...{ createdAt, updatedAt },
  };
}
