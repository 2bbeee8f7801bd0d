import { systemIds } from '@tollgate/service-kit';
import { StoreUnavailable } from '../errors.ts';
import type { Appender } from './appender.ts';
import type { RecordedEvent, Revision } from '../event-store.ts';

/** Each lost try means that somebody else has changed the stream's metadata. */
const triesMax = 10;

/** The first revision of a stream with which its metadata is written. */
const firstTrim = 8;

/**
 * Whether an append of so many events, the last with this revision, is one with which a stream's metadata is written: the
 * first that comes to revision 8, and the one that comes to each power of two after it, should an earlier one have died of
 * it. So a stream that stays short costs no append of metadata, and a long one a few.
 */
export function isTrimDue(revision: Revision, count: number): boolean {
  let step = firstTrim;
  while (step <= revision) step *= 2;
  const reached = step / 2;
  return revision >= firstTrim && revision - count < reached;
}

interface MetadataDependencies {
  appendData: Appender['appendData'];
  readLast: ReadLast;
}

/** Sets `$maxCount`. */
export const keepLast = (deps: MetadataDependencies, stream: string, count: number): Promise<void> =>
  changeMetadata(deps, stream, ({ $maxCount }) => ($maxCount === count ? {} : { $maxCount: count }));

/** Sets `$tb`, which never goes back. */
export async function truncate(deps: MetadataDependencies, stream: string, before: Revision): Promise<void> {
  const last = await deps.readLast(stream);
  if (last === undefined) return;
  const $tb = Math.min(before, last.revision);
  await changeMetadata(deps, stream, (metadata) => (Number(metadata['$tb'] ?? 0) >= $tb ? {} : { $tb }));
}

/**
 * The client could do it (`setStreamMetadata`), but loses what it does not know of the metadata and gives no revision to
 * expect, so that two changes at once would undo each other.
 *
 * @param changed nothing where all is as it should be
 */
async function changeMetadata(
  { appendData, readLast }: MetadataDependencies,
  stream: string,
  changed: (metadata: Record<string, unknown>) => object,
): Promise<void> {
  const metadataStream = `$$${stream}`;
  for (let tryNumber = 1; tryNumber <= triesMax; tryNumber += 1) {
    const last = await readLast(metadataStream);
    const metadata = toObject(last?.data);
    const change = changed(metadata);
    if (Object.keys(change).length === 0) return;
    const data = JSON.stringify({ ...metadata, ...change });
    const event = { id: systemIds.uuid(), type: '$metadata', data, metadata: '{}' };
    const answer = await appendData(metadataStream, [event], last?.revision ?? 'no-stream');
    if (answer.kind !== 'conflict') return;
  }
  throw new StoreUnavailable(
    'stream_contended',
    `Concurrent changes of a stream prevented this one ${triesMax} times.`,
  );
}

type ReadLast = (stream: string) => Promise<RecordedEvent | undefined>;

const toObject = (data: unknown): Record<string, unknown> =>
  typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data } : {};
