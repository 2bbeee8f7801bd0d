import { type EventStore, type RecordedEvent, type Revision, beginning } from '../../event-store.ts';
import { readLast } from '../../follower/checkpoint.ts';
import type { LogReader } from './log-reader.ts';
import { fromStoredStream, ownerOfMetadata, toStoredStream } from './wire-streams.ts';

/** The last event of a stream that was deleted permanently. */
export const tombstoneType = '$streamDeleted';

export const isTombstone = ({ type }: Pick<RecordedEvent, 'type'>): boolean => type === tombstoneType;

/** The events that reads of a stream show. The log shows all of them, until it is scavenged. */
type Shown =
  | { kind: 'deleted' }
  /** The events from this revision on. */
  | { kind: 'from'; revision: Revision };

/** By its name on the wire. */
export async function shownOf(store: EventStore, stream: string): Promise<Shown> {
  const last = await readLast(store, toStoredStream(stream));
  const owner = ownerOfMetadata(stream);
  if (owner !== undefined && (await shownOf(store, owner)).kind === 'deleted') return { kind: 'deleted' };
  if (last === undefined) return { kind: 'from', revision: 0 };
  if (isTombstone(last)) return { kind: 'deleted' };
  // Of metadata one event is kept.
  if (owner !== undefined) return { kind: 'from', revision: last.revision };
  const metadata = await readLast(store, toStoredStream(`$$${stream}`));
  const { $maxCount, $tb } = (metadata?.data ?? {}) as { $maxCount?: number; $tb?: number };
  const kept = $maxCount === undefined ? 0 : last.revision + 1 - $maxCount;
  return { kind: 'from', revision: Math.max(0, kept, $tb ?? 0) };
}

/**
 * Deletes events hidden from reads, in all streams for which `isScavenged` is true. As on a real server, the last event
 * of a stream is kept regardless of its metadata.
 */
export async function scavengeLog(
  { store, log }: { store: EventStore; log: LogReader },
  isScavenged: (stream: string) => boolean,
): Promise<void> {
  const { signal } = new AbortController();
  const lastRevisions = new Map<string, Revision>();
  for await (const { stream, revision } of log.forwards(beginning, signal))
    lastRevisions.set(stream, revision);
  for (const [stored, last] of lastRevisions) {
    const stream = fromStoredStream(stored);
    if (!isScavenged(stream)) continue;
    const shown = await shownOf(store, stream);
    await store.truncate(stored, shown.kind === 'deleted' ? last : shown.revision);
  }
}
