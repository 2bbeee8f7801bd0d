import type { RecordedEvent } from '@tollgate/event-store';
import { type RecordedPayment, encodePaymentRecord } from '@tollgate/gateway-events';
import type { Message } from '@tollgate/message-bus';
import { decodePaymentEvent, eventMetadataSchema } from '@tollgate/payment-domain';
import { type PaymentDocument, toPublicEventData, toPublicPayment } from '@tollgate/read-models';

/** The record of an event. Built field by field: what is not named here never reaches a topic. */
export function toPaymentMessage(event: RecordedEvent, document: PaymentDocument): Message {
  const metadata = eventMetadataSchema.parse(event.metadata);
  const { id, type, revision, position } = event;
  const { correlationId, recordedAt, traceparent } = metadata;
  const data = withoutAddresses(toPublicEventData(decodePaymentEvent(event)));
  const time = new Date(recordedAt).toISOString();
  return encodePaymentRecord(
    {
      event: { id, type, time, sequence: revision, correlationId, data },
      payment: toRecordedPayment(document),
    },
    { position, ...(traceparent === undefined ? {} : { traceparent }) },
  );
}

// A team reads its addresses back through the API. A topic has more readers, and addresses carry secrets.
function withoutAddresses(data: Record<string, unknown>): Record<string, unknown> {
  const isAddress = (name: string) => name.endsWith('Url');
  return Object.fromEntries(Object.entries(data).filter(([name]) => !isAddress(name)));
}

function toRecordedPayment(document: PaymentDocument): RecordedPayment {
  const { environment, team } = document.payment;
  const shown = toPublicPayment(document);
  const { token, status, phase, product, amount, currency, orderNumber, needConfirmation } = shown;
  const { heldAmount, approvedAmount, refundedAmount, sanitizedMask, declineReason, errors } = shown;
  const { createdAt, updatedAt } = shown;
  const attention = shown.attention.map(({ code }) => ({ code }));
  const facts = {
    token,
    environment,
    team,
    status,
    phase,
    product,
    amount,
    currency,
    orderNumber,
    needConfirmation,
  };
  const outcome = {
    heldAmount,
    approvedAmount,
    refundedAmount,
    sanitizedMask,
    declineReason,
    errors,
    attention,
  };
  return { ...facts, ...outcome, createdAt, updatedAt };
}
