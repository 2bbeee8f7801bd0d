import { readLast, type EventStore, type Revision } from '@tollgate/event-store';
import { z } from 'zod';
import { offsetStream, type GroupPartition } from './partition-streams.ts';

const committedSchema = z.object({ nextRevision: z.int().min(0) });

/** How far a group has come in a partition. */
export interface CommittedOffset {
  /** Revision of the first record that was not handled yet. */
  nextRevision: Revision;
  /** Of the stream that keeps this. */
  committedAt: Revision | 'no-stream';
}

/** As somebody sees it who is not of the group. @throws StoreUnavailable */
export async function readNextRevision(store: EventStore, partition: GroupPartition): Promise<Revision> {
  const last = await readLast(store, offsetStream(partition));
  return last === undefined ? 0 : committedSchema.parse(last.data).nextRevision;
}

export async function readCommitted(store: EventStore, partition: GroupPartition): Promise<CommittedOffset> {
  const stream = offsetStream(partition);
  await store.keepLast(stream, 1);
  for await (const { data, revision } of store.read(stream, { direction: 'backwards', limit: 1 })) {
    return { ...committedSchema.parse(data), committedAt: revision };
  }
  return { nextRevision: 0, committedAt: 'no-stream' };
}

/**
 * Moves a group on, only from where the caller knows it to be: undefined where another member has moved it, which
 * therefore has the partition. Repeat a try that failed with the same `eventId`.
 */
export async function commit(
  store: EventStore,
  partition: GroupPartition,
  { from, nextRevision, eventId }: { from: CommittedOffset; nextRevision: Revision; eventId: string },
): Promise<CommittedOffset | undefined> {
  const event = { id: eventId, type: 'OffsetCommitted', data: { nextRevision }, metadata: {} };
  const answer = await store.append(offsetStream(partition), [event], from.committedAt);
  return answer.kind === 'appended' ? { nextRevision, committedAt: answer.revision } : undefined;
}
