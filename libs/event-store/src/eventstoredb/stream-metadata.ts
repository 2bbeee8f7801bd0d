import { systemIds } from '@tollgate/service-kit';
import { StoreUnavailable } from '../errors.ts';
import type { Append } from './appender.ts';
import type { RecordedEvent, Revision } from '../event-store.ts';

/** Each lost try means that another process has changed the stream's metadata. */
const triesMax = 10;

/** The first revision of a stream with which its metadata is written. */
const firstTrim = 8;

/**
 * True if an append of this many events, up to this revision, also writes the stream's metadata: the first one that reaches
 * revision 8, and those that reach each power of two after it, in case a process died at an earlier one. So a short stream
 * costs no append of metadata, and a long one a few.
 */
export function isTrimDue(revision: Revision, count: number): boolean {
  let step = firstTrim;
  while (step <= revision) step *= 2;
  const reached = step / 2;
  return revision >= firstTrim && revision - count < reached;
}

interface MetadataDependencies {
  append: Append;
  readLast: ReadLast;
}

/** Sets `$maxCount`. */
export const keepLast = (deps: MetadataDependencies, stream: string, count: number): Promise<void> =>
  changeMetadata(deps, stream, ({ $maxCount }) => ($maxCount === count ? {} : { $maxCount: count }));

/** Sets `$tb`, which never decreases. */
export async function truncate(deps: MetadataDependencies, stream: string, before: Revision): Promise<void> {
  const last = await deps.readLast(stream);
  if (last === undefined) return;
  const $tb = Math.min(before, last.revision);
  await changeMetadata(deps, stream, (metadata) => (Number(metadata['$tb'] ?? 0) >= $tb ? {} : { $tb }));
}

/**
 * The client's `setStreamMetadata` drops unknown metadata and returns no revision to expect, so that two concurrent changes
 * would undo each other.
 *
 * @param changed undefined if nothing has to change
 */
async function changeMetadata(
  { append, readLast }: MetadataDependencies,
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
    const answer = await append(metadataStream, [event], last?.revision ?? 'no-stream');
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
