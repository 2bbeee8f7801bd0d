/** Decoding for consumers: one call for the records of all public topics, typed by the kind of event. */
import type { z } from 'zod';
import type { JournalEntryOnTopic } from '../journal.ts';
import type { PublicEvent } from '../public-object.ts';
import {
  type EventOnTopic,
  type RecordSubject,
  cloudEventType,
  decodeEventRecord,
  type EncodedRecord,
} from '../topics/record-format.ts';
import { decodeJournalRecord, journalEntryType, type RecordOf, topicContents } from '../topics/records.ts';

type EventsOf<Subject extends RecordSubject> = (typeof topicContents)[Subject]['events'];

/** An event with the data of its type. */
type TypedEvent<Events> = {
  [Type in keyof Events & string]: Omit<EventOnTopic, 'type' | 'data'> & {
    type: Type;
    data: Events[Type] extends { record: infer Data extends z.ZodType } ? z.infer<Data> : never;
  };
}[keyof Events & string];

type DecodedOf<Subject extends RecordSubject> = { kind: Subject } & Omit<RecordOf<Subject>, 'event'> & {
    event: TypedEvent<EventsOf<Subject>>;
  };

export type DecodedGatewayRecord =
  | DecodedOf<'payment'>
  | DecodedOf<'payout'>
  | DecodedOf<'dispute'>
  | { kind: 'journal'; entry: JournalEntryOnTopic }
  /** An event type newer than this version. The topic's own decoder still reads its subject. */
  | { kind: 'unknown-type'; type: string }
  /** Not a valid record of this version: a foreign record, or a damaged one. */
  | { kind: 'unreadable'; reason: string };

const subjects = ['payment', 'payout', 'dispute'] as const;

const knownTypes = new Map(
  subjects.flatMap((subject) =>
    Object.entries<PublicEvent>(topicContents[subject].events).map(
      ([event, { record }]) => [cloudEventType(event, subject), { subject, event, data: record }] as const,
    ),
  ),
);

/**
 * Decodes a record of any public topic by its `ce_type`, and validates it. Never throws: a consumer that throws on a record
 * reads no further. Unknown fields, which later versions may add, are ignored.
 */
export function decodeGatewayRecord(encoded: EncodedRecord): DecodedGatewayRecord {
  const ceType = encoded.headers['ce_type'];
  if (ceType === undefined) return unreadable('the header ce_type is missing');
  if (ceType === journalEntryType) {
    const decoded = decodeJournalRecord(encoded);
    return decoded.kind === 'unreadable' ? decoded : { kind: 'journal', entry: decoded.record.entry };
  }
  const known = knownTypes.get(ceType);
  if (known === undefined) return { kind: 'unknown-type', type: ceType };
  const decoded = decodeEventRecord<{ event: EventOnTopic }>(topicContents[known.subject].value, encoded);
  if (decoded.kind === 'unreadable') return decoded;
  const { event, ...subject } = decoded.record;
  if (event.type !== known.event)
    return unreadable(`the header ce_type is that of ${known.event}, but event.type differs`);
  const data = known.data.safeParse(event.data);
  if (!data.success) return unreadable(firstIssue(data.error));
  return { kind: known.subject, event: { ...event, data: data.data }, ...subject } as DecodedGatewayRecord;
}

const unreadable = (reason: string) => ({ kind: 'unreadable', reason }) as const;

function firstIssue({ issues: [issue] }: z.ZodError): string {
  return `${['event', 'data', ...(issue?.path ?? [])].join('.')} ${issue?.message ?? ''}`.trim();
}
