import { InvalidArgument } from './errors.ts';
import type { AppendOptions, ExpectedRevision, NewEvent } from './event-store.ts';

export const eventsPerAppendMax = 1_000;
/**
 * Limit for one event, and for all events of one append: data and metadata as JSON in UTF-8, the type twice, and 128 bytes of
 * each for the store's own metadata. A server with the default `MaxAppendSize` accepts 1,048,576 bytes, counted like this.
 */
export const appendBytesMax = 1_000_000;
const streamNameLengthMax = 512;

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const printablePattern = /^[!-~]+$/;

/** An event whose data and metadata are JSON text. */
export interface SerializedEvent {
  id: string;
  type: string;
  data: string;
  metadata: string;
}

/** @throws InvalidArgument unless `stream` is 1 to 512 printable ASCII characters and does not start with `$`. */
export function requireStreamName(stream: string): void {
  const isValid =
    stream.length <= streamNameLengthMax && printablePattern.test(stream) && !stream.startsWith('$');
  if (!isValid) {
    throw new InvalidArgument(
      'stream_name_invalid',
      `A stream name is 1 to ${streamNameLengthMax} printable ASCII characters without spaces, the first of them not "$".`,
    );
  }
}

/** @throws InvalidArgument */
export const requireTruncation = (before: number) =>
  requireInteger('The revision to truncate before', before, 0);

/** @throws InvalidArgument */
export function requireReadOptions(
  stream: string,
  { from = 0, limit = Infinity }: { from?: number | undefined; limit?: number | undefined },
): void {
  requireStreamName(stream);
  requireInteger('The revision to read from', from, 0);
  if (limit !== Infinity) requireInteger('The number of events to read', limit, 0);
}

/** @throws InvalidArgument unless `value` is an integer from `min`. */
function requireInteger(name: string, value: number, min: number): void {
  if (!Number.isSafeInteger(value) || value < min) {
    throw new InvalidArgument('number_invalid', `${name} must be an integer of at least ${min}.`);
  }
}

/**
 * Checks the arguments of an append and turns its events into text.
 *
 * @throws InvalidArgument
 */
export function serializeAppend(
  stream: string,
  events: readonly NewEvent[],
  expected: ExpectedRevision,
  { keepLast }: AppendOptions = {},
): { events: SerializedEvent[]; bytes: number } {
  requireStreamName(stream);
  if (typeof expected === 'number') requireInteger('The expected revision', expected, 0);
  if (keepLast !== undefined) requireInteger('The count of events to keep', keepLast, 1);
  if (events.length < 1 || events.length > eventsPerAppendMax) {
    throw new InvalidArgument('append_size_invalid', `One append takes 1 to ${eventsPerAppendMax} events.`);
  }
  const serialized = events.map(serializeEvent);
  const bytes = serialized.reduce((sum, event) => sum + bytesOf(event), 0);
  if (bytes > appendBytesMax) {
    throw new InvalidArgument(
      'append_too_large',
      `The ${events.length} events of one append have ${bytes} bytes, and at most ${appendBytesMax} are taken: divide them.`,
    );
  }
  return { events: serialized, bytes };
}

function serializeEvent(event: NewEvent): SerializedEvent {
  if (!uuidPattern.test(event.id))
    throw new InvalidArgument('event_id_invalid', 'An event id is a lower-case UUID.');
  if (event.type.length > 200 || !printablePattern.test(event.type)) {
    throw new InvalidArgument(
      'event_type_invalid',
      'An event type is 1 to 200 printable characters without spaces.',
    );
  }
  const { id, type } = event;
  const serialized = { id, type, data: toJson(event.data), metadata: toJson(event.metadata) };
  const bytes = bytesOf(serialized);
  if (bytes > appendBytesMax) {
    throw new InvalidArgument(
      'event_too_large',
      `The event ${type} has ${bytes} bytes of JSON, and at most ${appendBytesMax} are taken.`,
    );
  }
  return serialized;
}

/** `$correlationId` and `$causationId` with their values, of at most 36 characters each. */
export const notedBytes = 128;

const bytesOf = ({ type, data, metadata }: SerializedEvent): number =>
  Buffer.byteLength(data) +
  Buffer.byteLength(metadata) +
  2 * type.length +
  // Already present for our server, so it needs no room.
  (metadata.startsWith('{"$c') ? 0 : notedBytes);

function toJson(value: unknown): string {
  const text = stringified(value);
  if (typeof text === 'string') return text;
  throw new InvalidArgument(
    'event_not_json',
    'The data and the metadata of an event are JSON values, not undefined.',
  );
}

/** Typed as text, yet undefined for undefined, functions and symbols. */
function stringified(value: unknown): unknown {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const message = 'The data or metadata of an event cannot be written as JSON.';
    throw new InvalidArgument('event_not_json', message, { cause });
  }
}
