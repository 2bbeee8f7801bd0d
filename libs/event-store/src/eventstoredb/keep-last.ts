import { jsonEvent } from '@eventstore/db-client';
import { StoreUnavailable } from '../errors.ts';
import type { Appender } from './appender.ts';
import type { RecordedEvent } from '../event-store.ts';

/** Each lost try means that somebody else has changed the stream's metadata. */
const triesMax = 10;

/**
 * Sets `$maxCount`. The client could do it (`setStreamMetadata`), but loses what it does not know of the metadata and gives
 * no revision to expect, so that two changes at once would undo each other.
 */
export async function keepLast(
  { appendData, readLast }: { appendData: Appender['appendData']; readLast: ReadLast },
  stream: string,
  count: number,
): Promise<void> {
  const metadataStream = `$$${stream}`;
  for (let tryNumber = 1; tryNumber <= triesMax; tryNumber += 1) {
    const last = await readLast(metadataStream);
    const metadata = toObject(last?.data);
    if (metadata['$maxCount'] === count) return;
    const event = jsonEvent({ type: '$metadata', data: { ...metadata, $maxCount: count } });
    const answer = await appendData(metadataStream, [event], last?.revision ?? 'no-stream');
    if (answer.kind !== 'conflict') return;
  }
  throw new StoreUnavailable('stream_contended', `Others were faster ${triesMax} times to change a stream.`);
}

type ReadLast = (stream: string) => Promise<RecordedEvent | undefined>;

const toObject = (data: unknown): Record<string, unknown> =>
  typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data } : {};
