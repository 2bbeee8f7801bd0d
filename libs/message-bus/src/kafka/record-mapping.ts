import type { Message as KafkaMessage } from 'kafkajs';
import { BusUnavailable } from '../message-bus.ts';
import type { BusRecord, Message } from '../message-bus.ts';

/** Key and value of one record, bytes. Kafka's default limit, 1,048,588 with everything around them, leaves room for headers. */
export const recordBytesMax = 1_000_000;
/** Of the key alone, bytes: kafkajs needs quadratic time to find its partition, and blocks the process meanwhile. */
export const keyBytesMax = 4_096;
/** Limited separately from the key and value. */
export const headersBytesMax = 32_768;

const keyCharactersShown = 100;

/** Upper bound of Kafka's own fields of a record, or of a header. */
const framingBytes = 40;

const contentBytesOf = ({ key, value }: Message) => Buffer.byteLength(key) + value.byteLength;

function headersBytesOf({ headers }: Message): number {
  let bytes = 0;
  for (const [name, text] of Object.entries(headers))
    bytes += framingBytes + Buffer.byteLength(name) + Buffer.byteLength(text);
  return bytes;
}

/** Maximum size of a record in a request. */
export const bytesOf = (message: Message) => framingBytes + contentBytesOf(message) + headersBytesOf(message);

/** @throws BusUnavailable, not retryable, that names the record */
export function requireRecordSize(topic: string, message: Message): void {
  requireAtMost(keyBytesMax, Buffer.byteLength(message.key), 'bytes of key');
  requireAtMost(recordBytesMax, contentBytesOf(message), 'bytes');
  requireAtMost(headersBytesMax, headersBytesOf(message), 'bytes of headers');

  function requireAtMost(limit: number, bytes: number, what: string): void {
    if (bytes <= limit) return;
    throw new BusUnavailable(
      'record_too_large',
      `The record of key ${JSON.stringify(message.key.slice(0, keyCharactersShown))} for topic ${topic} has ${bytes} ${what}; at most ${limit} are taken.`,
      { retryable: false },
    );
  }
}

export function toKafkaMessage({ key, value, headers }: Message, partition: number): KafkaMessage {
  return {
    key: Buffer.from(key),
    value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    headers,
    partition,
  };
}

/** As kafkajs hands it over. */
export interface FetchedMessage {
  offset: string;
  timestamp: string;
  key: Buffer | null;
  value: Buffer | null;
  headers?: Record<string, Buffer | string | (Buffer | string)[] | undefined>;
}

/** A record of another program may have no key or no value; here these are empty. Of a repeated header the last one counts. */
export function toBusRecord(topic: string, partition: number, fetched: FetchedMessage): BusRecord {
  const { offset, timestamp, key, value, headers = {} } = fetched;
  return {
    topic,
    partition,
    offset,
    timestamp: Number(timestamp),
    key: key?.toString('utf8') ?? '',
    value: new Uint8Array(value ?? []),
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, given]) => {
        const last = Array.isArray(given) ? given.at(-1) : given;
        return last === undefined ? [] : [[name, last.toString()]];
      }),
    ),
  };
}
