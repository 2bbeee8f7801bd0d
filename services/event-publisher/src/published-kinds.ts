/** What is published: one description for each kind of stream, from which the publisher does the rest. */
import type { RecordedEvent } from '@tollgate/event-store';
import { gatewayDisputesTopic, gatewayPaymentsTopic, gatewayPayoutsTopic } from '@tollgate/gateway-events';
import type { Message } from '@tollgate/message-bus';
import {
  type DisputeDocument,
  type DocumentEnvelope,
  type DocumentKind,
  type PaymentDocument,
  type PayoutDocument,
  disputeKind,
  paymentKind,
  payoutKind,
} from '@tollgate/read-models';
import { toDisputeMessage } from './dispute-message.ts';
import { toPaymentMessage } from './payment-message.ts';
import { toPayoutMessage } from './payout-message.ts';

export interface PublishedKind<Document extends DocumentEnvelope = DocumentEnvelope> {
  documents: DocumentKind<Document>;
  topic: string;
  /** Throws where the event is none that a version of ours has written. */
  toMessage(event: RecordedEvent, document: Document): Message;
}

const payments: PublishedKind<PaymentDocument> = {
  documents: paymentKind,
  topic: gatewayPaymentsTopic,
  toMessage: toPaymentMessage,
};
const payouts: PublishedKind<PayoutDocument> = {
  documents: payoutKind,
  topic: gatewayPayoutsTopic,
  toMessage: toPayoutMessage,
};
const disputes: PublishedKind<DisputeDocument> = {
  documents: disputeKind,
  topic: gatewayDisputesTopic,
  toMessage: toDisputeMessage,
};

export const publishedKinds: readonly PublishedKind[] = [payments, payouts, disputes];
export const publishedTopics = publishedKinds.map(({ topic }) => topic);
export const publishedPrefixes = publishedKinds.map(({ documents }) => documents.streamPrefix);

/** The kind of a stream, and the token that its records have as their key. */
export interface PublishedStream {
  kind: PublishedKind;
  key: string;
}

export function publishedStream(stream: string): PublishedStream | undefined {
  const kind = publishedKinds.find(({ documents }) => stream.startsWith(documents.streamPrefix));
  return kind && { kind, key: stream.slice(kind.documents.streamPrefix.length) };
}
