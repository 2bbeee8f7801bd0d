/** Lets go of old records of the embedded bus, as Kafka does by `retention.ms`. */
import { readLast, type EventStore, type RecordedEvent, type Revision } from '@tollgate/event-store';
import type { Clock, Log } from '@tollgate/service-kit';
import { readNextRevision } from './committed-offset.ts';
import { partitionStream } from './partition-streams.ts';
import { readPartitionCount } from './topics.ts';

export interface Retention {
  topic: string;
  /** How long a record is kept at least, milliseconds. */
  retentionMs: number;
  /** A group that must have handled a record before it goes, however old it is. */
  heldBy?: string;
}

interface RetentionDependencies {
  store: EventStore;
  clock: Clock;
  log: Log;
}

const betweenPassesMs = 3_600_000;
/** Records that go at once: what is committed together holds up other writers. */
const stepMax = 1_000;

/** Trims the topics now and every hour, until the signal is aborted. The last record of a partition stays. Never rejects. */
export async function retainTopics(
  deps: RetentionDependencies,
  retentions: readonly Retention[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const retention of retentions)
      await trimTopic(deps, retention, signal).catch((error: unknown) =>
        deps.log.warn(
          { error, topic: retention.topic },
          'old records could not be let go of; it is tried again',
        ),
      );
    await deps.clock.sleep(betweenPassesMs, signal).catch(() => undefined);
  }
}

/** @throws StoreUnavailable */
export async function trimTopic(
  { store, clock }: RetentionDependencies,
  { topic, retentionMs, heldBy }: Retention,
  signal: AbortSignal,
): Promise<void> {
  const count = await readPartitionCount(store, topic);
  const olderThan = clock.now() - retentionMs;
  for (let partition = 0; partition < count && !signal.aborted; partition += 1) {
    const stream = partitionStream(topic, partition);
    const held =
      heldBy === undefined ? Infinity : await readNextRevision(store, { group: heldBy, topic, partition });
    const [first, last] = [await readFrom(store, stream, 0), await readLast(store, stream)];
    if (first === undefined || last === undefined) continue;
    const before = Math.min(held, await firstSince(store, stream, { from: first, to: last, olderThan }));
    for (let upTo = first.revision; upTo < before && !signal.aborted;) {
      upTo = Math.min(before, upTo + stepMax);
      await store.truncate(stream, upTo);
    }
  }
}

async function readFrom(
  store: EventStore,
  stream: string,
  from: Revision,
): Promise<RecordedEvent | undefined> {
  for await (const event of store.read(stream, { from, limit: 1 })) return event;
  return undefined;
}

/** The revision of the first record that is not older, or that of the last one; found by halves. */
async function firstSince(
  store: EventStore,
  stream: string,
  { from, to, olderThan }: { from: RecordedEvent; to: RecordedEvent; olderThan: number },
): Promise<Revision> {
  let [low, high] = [from.revision, to.revision];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const event = await readFrom(store, stream, middle);
    if (event !== undefined && event.recordedAt < olderThan) low = middle + 1;
    else high = middle;
  }
  return low;
}
