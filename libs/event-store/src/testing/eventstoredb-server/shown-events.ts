import { type EventStore, type Revision, beginning } from '../../event-store.ts';
import { readLast } from '../../follower/checkpoint.ts';
import type { LogReader } from './log-reader.ts';
import { fromStoredStream, ownerOfMetadata, toStoredStream } from './wire-streams.ts';

/**
 * The first revision that reads of a stream show, by its name on the wire. The log shows earlier events too, until it is
 * scavenged.
 */
export async function firstShownOf(store: EventStore, stream: string): Promise<Revision> {
  const last = await readLast(store, toStoredStream(stream));
  if (last === undefined) return 0;
  // Of metadata one event is kept.
  if (ownerOfMetadata(stream) !== undefined) return last.revision;
  const metadata = await readLast(store, toStoredStream(`$$${stream}`));
  const { $maxCount, $tb } = (metadata?.data ?? {}) as { $maxCount?: number; $tb?: number };
  const kept = $maxCount === undefined ? 0 : last.revision + 1 - $maxCount;
  return Math.max(0, kept, $tb ?? 0);
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
  const events = await Array.fromAsync(log.forwards(beginning, signal));
  for (const stored of new Set(events.map(({ stream }) => stream))) {
    const stream = fromStoredStream(stored);
    if (isScavenged(stream)) await store.truncate(stored, await firstShownOf(store, stream));
  }
}
