import { isUtf8 } from 'node:buffer';
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
