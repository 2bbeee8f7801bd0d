import type { RecordedEvent } from '@tollgate/event-store';
import { type RecordedPayout, encodePayoutRecord } from '@tollgate/gateway-events';
import type { Message } from '@tollgate/message-bus';
import { decodePayoutEvent } from '@tollgate/payment-domain';
import { type PayoutDocument, toPublicPayout, toPublicPayoutEventData } from '@tollgate/read-models';
import { given } from '@tollgate/service-kit';
import { toEventOnTopic } from './event-on-topic.ts';

/** The record of an event. Built field by field: what is not named here never reaches a topic. */
export function toPayoutMessage(recorded: RecordedEvent, document: PayoutDocument): Message {
  const { event, origin } = toEventOnTopic(recorded, toPublicPayoutEventData(decodePayoutEvent(recorded)));
  return encodePayoutRecord({ event, payout: toRecordedPayout(document) }, origin);
}

function toRecordedPayout(document: PayoutDocument): RecordedPayout {
  const { environment, team } = document.payout;
  const shown = toPublicPayout(document);
  const { token, status, phase, amount, currency, orderNumber, destination, declineReason } = shown;
  const { errors, createdAt, updatedAt } = shown;
  return {
    ...{ token, environment, team, status, phase, amount, currency, orderNumber, destination, errors },
    ...given({ declineReason }),
    attention: shown.attention.map(({ code }) => ({ code })),
    ...{ createdAt, updatedAt },
  };
}
