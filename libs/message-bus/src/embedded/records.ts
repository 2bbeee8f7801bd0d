/** The streams of the embedded bus, and messages as their events. */
import { isUtf8 } from 'node:buffer';
import type { NewEvent, RecordedEvent } from '@tollgate/event-store';
import { TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';
import type { BusRecord, Message } from '../message-bus.ts';

// Kafka's allowed characters. They exclude the colon, which ends a topic in the names of streams: no name is a prefix of
// another.
const namePattern = /^[a-zA-Z0-9._-]{1,100}$/;

/** @throws TollgateError unless `name` is 1 to 100 of the characters that Kafka allows */
export function requireBusName(kind: 'topic' | 'group', name: string): void {
  if (namePattern.test(name)) return;
  throw new TollgateError(
    'bus_name_invalid',
    `The name of a ${kind} is 1 to 100 letters, digits, dots, underscores and dashes.`,
  );
}

/** Streams of all topics whose handled records are deleted. */
export const topicStreamPrefix = 'bus-';

/** A topic is one stream: its only partition. */
export const topicStream = (topic: string) => `${topicStreamPrefix}${topic}:0`;

const storedSchema = z.object({
  key: z.string(),
  value: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  headers: z.record(z.string(), z.string()),
});

/** A text value stays readable in the file. */
export function toNewEvent(id: string, { key, value, headers }: Message): NewEvent {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  const data: z.infer<typeof storedSchema> = { key, value: bytes.toString(encoding), encoding, headers };
  return { id, type: 'BusRecord', data, metadata: {} };
}

/** @throws ZodError if the stream contains something else */
export function toBusRecord(topic: string, recorded: RecordedEvent): BusRecord {
  const { key, value, encoding, headers } = storedSchema.parse(recorded.data);
  return {
    topic,
    partition: 0,
    key,
    headers,
    value: Uint8Array.from(Buffer.from(value, encoding)),
    offset: String(recorded.revision),
    timestamp: recorded.recordedAt,
  };
}

/** Approximate size of a message in memory and in the file. */
export const approximateBytes = ({ key, value, headers }: Message) =>
  key.length + 2 * value.byteLength + JSON.stringify(headers).length;
