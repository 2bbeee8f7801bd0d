import type { RecordedEvent } from '@tollgate/event-store';
import { type RecordedPayout, encodePayoutRecord } from '@tollgate/gateway-events';
import type { Message } from '@tollgate/message-bus';
import { decodePayoutEvent } from '@tollgate/payment-domain';
import { type PayoutView, toPublicPayout, toPublicPayoutEventData } from '@tollgate/views';
import { given } from '@tollgate/service-kit';
import { toEventOnTopic } from './event-on-topic.ts';

/** The record of an event. Built field by field: what is not named here never reaches a topic. */
export function toPayoutMessage(recorded: RecordedEvent, view: PayoutView): Message {
  const { event, origin } = toEventOnTopic(recorded, toPublicPayoutEventData(decodePayoutEvent(recorded)));
  return encodePayoutRecord({ event, payout: toRecordedPayout(view) }, origin);
}

function toRecordedPayout(view: PayoutView): RecordedPayout {
  const { environment, team } = view.payout;
  const shown = toPublicPayout(view);
  const { token, status, phase, amount, currency, orderNumber, destination, declineReason } = shown;
  const { errors, createdAt, updatedAt } = shown;
  return {
    ...{ token, environment, team, status, phase, amount, currency, orderNumber, destination, errors },
    ...given({ declineReason }),
    reviews: shown.reviews.map(({ code }) => ({ code })),
    ...{ createdAt, updatedAt },
  };
}
