/** What is published: one description for each kind of stream, from which the publisher does the rest. */
import type { RecordedEvent } from '@tollgate/event-store';
import {
  type RecordSubject,
  encodeRecord,
  toRecordData,
  toRecordedDispute,
  toRecordedPayment,
  toRecordedPayout,
  topicContents,
} from '@tollgate/gateway-api';
import type { Message } from '@tollgate/message-bus';
import { type ViewEnvelope, type ViewKind, disputeKind, paymentKind, payoutKind } from '@tollgate/views';
import { toEventOnTopic } from './event-on-topic.ts';

export interface PublishedKind<View extends ViewEnvelope = ViewEnvelope> {
  views: ViewKind<View>;
  topic: string;
  /** Throws where the event is none that a version of ours has written. */
  toMessage(event: RecordedEvent, view: View): Message;
}

function publishedKind<View extends ViewEnvelope>(
  subject: RecordSubject,
  views: ViewKind<View>,
  toRecorded: (view: View) => { token: string },
): PublishedKind<View> {
  return {
    ...{ views, topic: topicContents[subject].topic },
    toMessage: (recorded, view) => {
      const { event, origin } = toEventOnTopic(recorded, toRecordData(subject, views.decode(recorded)));
      const record = encodeRecord(subject, event, { shown: toRecorded(view), origin });
      return { ...record, cause: recorded.id };
    },
  };
}

export const publishedKinds: readonly PublishedKind[] = [
  publishedKind('payment', paymentKind, toRecordedPayment),
  publishedKind('payout', payoutKind, toRecordedPayout),
  publishedKind('dispute', disputeKind, toRecordedDispute),
];
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
