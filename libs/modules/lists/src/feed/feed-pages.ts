/** Pages of the event feed: topic records, each with its cursor. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { type Log, isRetryable, type ReadShare } from '@tollgate/service-kit';
import type { FeedEntry } from '../index-operators.ts';
import type { ListOwner } from '../list-page.ts';
import type { PaymentIndex } from '../payment-index.ts';

/** A record as it is on its topic. */
interface TopicRecord {
  topic: string;
  key: string;
  value: Uint8Array;
  headers: Readonly<Record<string, string>>;
}

/** The publisher's own mapping. @throws for an event that cannot be published */
export type RecordOf = (event: RecordedEvent) => Promise<TopicRecord>;

export interface FedRecord {
  /** Cursor to the events after it. */
  cursor: string;
  topic: string;
  /** `ce_type`. */
  type: string;
  /** Its value on the topic, as JSON. */
  json: string;
}

export interface FeedPage {
  records: readonly FedRecord[];
  /** Start of the next page; start of this one if nothing was passed. */
  cursor: string;
  /** False if more may be available at once, or if not everything in the store is known yet. */
  isAtEnd: boolean;
}

export interface PageDependencies {
  store: Pick<EventStore, 'read'>;
  index: Pick<PaymentIndex, 'eventsAfter' | 'isCaughtUp'>;
  recordOf: RecordOf;
  /** Share of the event loop for long reads. */
  share: ReadShare;
  log: Log;
}

/** Events read from the store together, stream by stream. */
const readAtOnce = 25;

/** Maximum page size in bytes; a page ends early, but contains at least one record. */
const pageBytesMax = 1_000_000;

/** @throws StoreUnavailable, EventOfNewerVersion: retry */
export async function readFeedPage(
  deps: PageDependencies,
  owner: ListOwner,
  { after, limit }: { after: string; limit: number },
): Promise<FeedPage> {
  const entries = deps.index.eventsAfter(owner, { after, limit });
  const isComplete = deps.index.isCaughtUp();
  const records: FedRecord[] = [];
  let [cursor, bytes] = [after, 0];
  let read = new Map<string, RecordedEvent>();
  for (const [at, entry] of entries.entries()) {
    if (bytes >= pageBytesMax) return { records, cursor, isAtEnd: false };
    if (at % readAtOnce === 0) read = await readEvents(deps.store, entries.slice(at, at + readAtOnce));
    await deps.share.giveWay();
    const record = await recordAt(deps, entry, read.get(entry.position));
    cursor = entry.position;
    if (record === undefined) continue;
    records.push(record);
    bytes += record.json.length;
  }
  return { records, cursor, isAtEnd: isComplete && entries.length < limit };
}

/** By position. The feed has nearly every event of a stream, so those of one stream follow one another. */
async function readEvents(
  store: Pick<EventStore, 'read'>,
  entries: readonly FeedEntry[],
): Promise<Map<string, RecordedEvent>> {
  const events = new Map<string, RecordedEvent>();
  for (const [stream, ofStream] of Map.groupBy(entries, (entry) => entry.stream)) {
    const from = Math.min(...ofStream.map(({ revision }) => revision));
    for await (const event of store.read(stream, { from, limit: ofStream.length }))
      events.set(event.position, event);
  }
  return events;
}

/** Undefined for events that the publisher quarantines as well: a damaged stream must not block the others of its team. */
async function recordAt(
  { store, recordOf, log }: PageDependencies,
  entry: FeedEntry,
  read: RecordedEvent | undefined,
): Promise<FedRecord | undefined> {
  const { position: cursor, stream, revision } = entry;
  const [event] =
    read === undefined ? await Array.fromAsync(store.read(stream, { from: revision, limit: 1 })) : [read];
  try {
    if (event?.revision !== revision) throw new RangeError('an event of the index is not in the store');
    const { topic, value, headers } = await recordOf(event);
    return { cursor, topic, type: headers['ce_type'] ?? '', json: new TextDecoder().decode(value) };
  } catch (error) {
    if (isRetryable(error)) throw error;
    log.error(
      { error, stream, revision },
      'an event cannot be read; the feed of its team continues without it',
    );
    return undefined;
  }
}
