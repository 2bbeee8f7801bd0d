/** From an event to its public record: the same on Kafka, in the event feed and in `tollgate tail`. */
import { type EventStore, type RecordedEvent, type Step, createFoldedStates } from '@tollgate/event-store';
import {
  type RecordSubject,
  encodeJournalRecord,
  encodeRecord,
  gatewayJournalTopic,
  toJournalEntryOnTopic,
  toRecordData,
  toRecordedDispute,
  toRecordedPayment,
  toRecordedPayout,
  topicContents,
} from '@tollgate/gateway-api';
import type { Message } from '@tollgate/message-bus';
import { eventMetadataSchema } from '@tollgate/core';
import { TollgateError } from '@tollgate/service-kit';
import {
  type ViewEnvelope,
  type ViewKind,
  disputeKind,
  journalOf,
  kindOfStream,
  paymentKind,
  payoutKind,
  transferKind,
} from '@tollgate/views';

export interface PublishedKind<View extends ViewEnvelope = ViewEnvelope> {
  views: ViewKind<View>;
  topic: string;
  /** @throws for an event that none of our versions has written */
  toMessage(event: RecordedEvent, viewAfter: View): Message;
}

function publishedKind<View extends ViewEnvelope>(
  subject: RecordSubject,
  views: ViewKind<View>,
  toShown: (view: View) => { token: string },
): PublishedKind<View> {
  return {
    views,
    topic: topicContents[subject].topic,
    toMessage: (recorded, viewAfter) => {
      const { id, type, revision: sequence, position, metadata } = recorded;
      const { correlationId, recordedAt, traceparent } = eventMetadataSchema.parse(metadata);
      const time = new Date(recordedAt).toISOString();
      const data = toRecordData(subject, views.decode(recorded));
      const origin = traceparent === undefined ? { position } : { position, traceparent };
      const event = { id, type, time, sequence, correlationId, data };
      return encodeRecord(subject, event, { shown: toShown(viewAfter), origin });
    },
  };
}

export const publishedKinds: readonly PublishedKind[] = [
  publishedKind('payment', paymentKind, toRecordedPayment),
  publishedKind('payout', payoutKind, toRecordedPayout),
  publishedKind('dispute', disputeKind, toRecordedDispute),
];
/** Streams whose events move money. */
const journaledKinds: readonly ViewKind[] = [paymentKind, payoutKind, transferKind];

/** Each public topic, with the kinds of streams behind its records. */
export const sourcesOfTopics: ReadonlyMap<string, readonly ViewKind[]> = new Map([
  ...publishedKinds.map(({ topic, views }) => [topic, [views]] as const),
  [gatewayJournalTopic, journaledKinds],
]);
export const publishedTopics = [...sourcesOfTopics.keys()];
export const publishedPrefixes = [
  ...new Set([...sourcesOfTopics.values()].flat().map(({ streamPrefix }) => streamPrefix)),
];

/** The kind of a stream, and the token that is the key of its records. */
export function publishedStream(stream: string): { kind: PublishedKind; key: string } | undefined {
  const kind = publishedKinds.find(({ views }) => stream.startsWith(views.streamPrefix));
  return kind && { kind, key: stream.slice(kind.views.streamPrefix.length) };
}

/** Maximum size of a record, bytes. Kafka takes about 1 MiB for one partition at a time (`max.message.bytes`). */
export const messageBytesMax = 600_000;

export const bytesOf = ({ key, value, headers }: Message): number =>
  key.length + value.byteLength + JSON.stringify(headers).length;

/** Payments, payouts and disputes kept in memory. */
const statesMax = 1_000;

export type TopicRecord = Message & { topic: string };

/** The record of its subject, if it has a topic, and those of its journal entries. */
export function recordsOfStep(event: RecordedEvent, step: Step<ViewEnvelope>): TopicRecord[] {
  const published = publishedStream(event.stream);
  const records = journalRecordsOf(event, step);
  if (published !== undefined) records.unshift(subjectRecordOf(published.kind, event, step.after));
  return records;
}

/** @throws StoreUnavailable; any other error means that no record can be made of this event */
export function createRecordsOf(
  store: Pick<EventStore, 'read'>,
): (event: RecordedEvent) => Promise<TopicRecord[]> {
  const states = createFoldedStates<ViewEnvelope>(store, { statesMax });
  return async (event) => recordsOfStep(event, await states.stepOf(event, kindOf(event).fold));
}

export type RecordOf = (event: RecordedEvent) => Promise<TopicRecord>;

/** Of its subject alone, for a stream that has a topic. @throws as {@link createRecordsOf} */
export function createRecordOf(store: Pick<EventStore, 'read'>): RecordOf {
  const recordsOf = createRecordsOf(store);
  return async (event) => (await recordsOf(event))[0] as TopicRecord;
}

function subjectRecordOf(kind: PublishedKind, event: RecordedEvent, after: ViewEnvelope): TopicRecord {
  const message = kind.toMessage(event, after);
  if (bytesOf(message) > messageBytesMax)
    throw new TollgateError('record_too_large', 'The record of an event is too large for the message bus.');
  return { ...message, topic: kind.topic };
}

/** Entries of one event may share a partition: their number is part of their position. */
function journalRecordsOf(event: RecordedEvent, step: Step<ViewEnvelope>): TopicRecord[] {
  const { correlationId, traceparent } = eventMetadataSchema.parse(event.metadata);
  return journalOf(kindOf(event), step, event).map((entry) => {
    const position = `${event.position}~${entry.number}`;
    const origin = traceparent === undefined ? { position } : { position, traceparent };
    const head = { sequence: event.revision, correlationId, origin };
    return { ...encodeJournalRecord(toJournalEntryOnTopic(entry), head), topic: gatewayJournalTopic };
  });
}

function kindOf({ stream }: RecordedEvent): ViewKind {
  const kind = kindOfStream(stream);
  if (kind === undefined) throw new RangeError(`${stream} is not published`);
  return kind;
}
