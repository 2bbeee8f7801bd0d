import type { RecordedEvent } from '@tollgate/event-store';
import { type RecordedDispute, encodeDisputeRecord } from '@tollgate/gateway-events';
import type { Message } from '@tollgate/message-bus';
import { type DisputeEvent, decodeDisputeEvent } from '@tollgate/payment-domain';
import { type DisputeView, type PublicEventData, toIso, toPublicDispute } from '@tollgate/views';
import { given } from '@tollgate/service-kit';
import { toEventOnTopic } from './event-on-topic.ts';

/** The record of an event. Built field by field: what is not named here never reaches a topic. */
export function toDisputeMessage(recorded: RecordedEvent, view: DisputeView): Message {
  const { event, origin } = toEventOnTopic(recorded, toPublicDisputeEventData(decodeDisputeEvent(recorded)));
  return encodeDisputeRecord({ event, dispute: toRecordedDispute(view) }, origin);
}

function toPublicDisputeEventData({ type, data }: DisputeEvent): PublicEventData {
  if (type === 'DisputeMatched') return { paymentToken: data.paymentToken };
  const { amount, currency, status, type: kind, reasonCode, comment } = data;
  const facts = { ...given({ amount, currency }), status, ...given({ type: kind, reasonCode, comment }) };
  if (type === 'DisputeChanged') return facts;
  const openedAt = data.openedAt === undefined ? undefined : toIso(data.openedAt);
  return { ...facts, ...given({ paymentToken: data.paymentToken, openedAt }) };
}

function toRecordedDispute(view: DisputeView): RecordedDispute {
  const { environment, team } = view.dispute;
  const { id, token: paymentToken, amount, currency, status, ...others } = toPublicDispute(view);
  const { type, reasonCode, comment, createdAt, updatedAt } = others;
  return {
    ...{ token: view.token, id, environment, amount, currency, status },
    ...given({ team, paymentToken, type, reasonCode, comment }),
    ...{ createdAt, updatedAt },
  };
}
