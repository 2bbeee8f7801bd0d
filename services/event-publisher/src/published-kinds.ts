/** What is published: one description for each kind of stream, from which the publisher does the rest. */
import type { RecordedEvent } from '@tollgate/event-store';
import { gatewayDisputesTopic, gatewayPaymentsTopic, gatewayPayoutsTopic } from '@tollgate/gateway-events';
import type { Message } from '@tollgate/message-bus';
import {
  type DisputeView,
  type ViewEnvelope,
  type ViewKind,
  type PaymentView,
  type PayoutView,
  disputeKind,
  paymentKind,
  payoutKind,
} from '@tollgate/views';
import { toDisputeMessage } from './dispute-message.ts';
import { toPaymentMessage } from './payment-message.ts';
import { toPayoutMessage } from './payout-message.ts';

export interface PublishedKind<View extends ViewEnvelope = ViewEnvelope> {
  views: ViewKind<View>;
  topic: string;
  /** Throws where the event is none that a version of ours has written. */
  toMessage(event: RecordedEvent, view: View): Message;
}

const payments: PublishedKind<PaymentView> = {
  views: paymentKind,
  topic: gatewayPaymentsTopic,
  toMessage: toPaymentMessage,
};
const payouts: PublishedKind<PayoutView> = {
  views: payoutKind,
  topic: gatewayPayoutsTopic,
  toMessage: toPayoutMessage,
};
const disputes: PublishedKind<DisputeView> = {
  views: disputeKind,
  topic: gatewayDisputesTopic,
  toMessage: toDisputeMessage,
};

export const publishedKinds: readonly PublishedKind[] = [payments, payouts, disputes];
export const publishedTopics = publishedKinds.map(({ topic }) => topic);
export const publishedPrefixes = publishedKinds.map(({ views }) => views.streamPrefix);

/** The kind of a stream, and the token that its records have as their key. */
export interface PublishedStream {
  kind: PublishedKind;
  key: string;
}

export function publishedStream(stream: string): PublishedStream | undefined {
  const kind = publishedKinds.find(({ views }) => stream.startsWith(views.streamPrefix));
  return kind && { kind, key: stream.slice(kind.views.streamPrefix.length) };
}
