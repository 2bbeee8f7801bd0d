import { InvalidArgument } from './errors.ts';
import type { NewEvent } from './event-store.ts';

export const eventsPerAppendMax = 1_000;
/**
 * Limit for all events of one append: data and metadata as JSON in UTF-8, and the type twice. A server with the default
 * `MaxAppendSize` accepts 1,048,576 bytes, counted like this.
 */
export const appendBytesMax = 1_000_000;
const streamNameLengthMax = 512;

/** An event whose data and metadata are JSON text. */
export interface SerializedEvent {
  id: string;
  type: string;
  data: string;
  metadata: string;
}

/** @throws InvalidArgument unless `stream` is 1 to 512 printable ASCII characters and does not start with `$`. */
function requireStreamName(stream: string): void {
  if (stream.length <= streamNameLengthMax && /^[!-#%-~][!-~]*$/.test(stream)) return;
  throw new InvalidArgument(
    'stream_name_invalid',
    `A stream name is 1 to ${streamNameLengthMax} printable ASCII characters without spaces, the first of them not "$".`,
  );
}

/**
 * Turns the events of an append into text.
 *
 * @throws InvalidArgument for a stream name that no store accepts, for none or too many events, and for events that are too
 * large
 */
export function serializeAppend(
  stream: string,
  events: readonly NewEvent[],
): { events: SerializedEvent[]; bytes: number } {
  requireStreamName(stream);
  if (events.length < 1 || events.length > eventsPerAppendMax)
    throw new InvalidArgument('append_size_invalid', `One append takes 1 to ${eventsPerAppendMax} events.`);
  const serialized = events.map(({ id, type, data, metadata }) => ({
    id,
    type,
    data: JSON.stringify(data),
    metadata: JSON.stringify(metadata),
  }));
  const bytes = serialized.reduce((sum, event) => sum + bytesOf(event), 0);
  if (bytes > appendBytesMax)
    throw new InvalidArgument(
      'append_too_large',
      `The ${events.length} events of one append have ${bytes} bytes, and at most ${appendBytesMax} are taken: divide them.`,
    );
  return { events: serialized, bytes };
}

const bytesOf = ({ type, data, metadata }: SerializedEvent): number =>
  Buffer.byteLength(data) + Buffer.byteLength(metadata) + 2 * type.length;
