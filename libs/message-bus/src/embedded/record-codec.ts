import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { NewEvent, RecordedEvent } from '@tollgate/event-store';
import { z } from 'zod';
import type { BusRecord, Message } from '../message-bus.ts';

const storedSchema = z.object({
  key: z.string(),
  value: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  headers: z.record(z.string(), z.string()),
});

/** A value that is text stays readable in the file. */
export function toNewEvent(id: string, { key, value, headers }: Message): NewEvent {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  const data: z.infer<typeof storedSchema> = { key, value: bytes.toString(encoding), encoding, headers };
  return { id, type: 'BusRecord', data, metadata: {} };
}

/** The id of the record that a topic has of a cause: the same for all who publish it (a UUID of RFC 9562, version 8). */
export function recordIdOf(topic: string, cause: string): string {
  const hex = hash('sha256', JSON.stringify([topic, cause]));
  const variant = ((parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** @throws ZodError where the stream holds something else. */
export function toBusRecord(topic: string, partition: number, recorded: RecordedEvent): BusRecord {
  const { key, value, encoding, headers } = storedSchema.parse(recorded.data);
  return {
    topic,
    partition,
    key,
    headers,
    value: Uint8Array.from(Buffer.from(value, encoding)),
    offset: String(recorded.revision),
    timestamp: recorded.recordedAt,
  };
}

/** Roughly what a message takes in memory and in the file. */
export const approximateBytes = ({ key, value, headers }: Message) =>
  key.length + 2 * value.byteLength + JSON.stringify(headers).length;
