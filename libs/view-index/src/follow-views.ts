/** Indexes the views of one view version: from the event store into one file of the index. */
import { readLast, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import { type Log, omitUndefined } from '@tollgate/service-kit';
import {
  checkpointPrefixOf,
  checkpointStreamOf,
  furthestShards,
  kindOfViewStream,
  streamOf,
  viewCheckpointSchema,
  viewStreamPrefixesOf,
  viewVersionStream,
  type ViewVersion,
} from '@tollgate/views';
import type { IndexFile, IndexProgress } from './index-file.ts';
import type { IndexedView } from './index-writer.ts';

/** The most views per transaction: each blocks the event loop for some milliseconds; requests are served in between. */
const batchEventsMaxDefault = 20;

export interface FollowOptions {
  store: EventStore;
  log: Log;
  file: IndexFile;
  viewVersion: ViewVersion;
  signal: AbortSignal;
  /** The most views per transaction, for a thread on which nobody waits. */
  batchEventsMax?: number | undefined;
  /** Everything up to here is in the file; `isCaughtUp` if that is all for now; and how many views were indexed. */
  onProgress: (progress: IndexProgress, isCaughtUp: boolean, taken: number) => void;
  /** Called whenever the live version or the one being built may have changed. */
  onViewVersion?: (event: RecordedEvent) => void;
}

/** Follows until the signal is aborted. @throws Unusable, and what SQLite throws for a damaged file */
export async function followViews(options: FollowOptions): Promise<void> {
  const { store, file, viewVersion, signal, onProgress, onViewVersion } = options;
  const { batchEventsMax = batchEventsMaxDefault } = options;
  const checkpointPrefix = checkpointPrefixOf(viewVersion);
  const prefixes = [
    ...viewStreamPrefixesOf(viewVersion),
    checkpointPrefix,
    ...(onViewVersion === undefined ? [] : [viewVersionStream]),
  ];
  let progress = file.progress();
  let batch: RecordedEvent[] = [];
  /** False where a view may be left out because another one follows behind the checkpoint that counts on it. */
  let isGapless = false;
  for await (const item of store.subscribe({ from: progress.followed, prefixes, signal })) {
    if (item.kind === 'event' && item.stream === viewVersionStream) {
      onViewVersion?.(item);
      continue;
    }
    if (item.kind === 'event') {
      batch.push(item);
      // A read that waits for a position waits for a checkpoint that counts.
      const isAwaited = isGapless && item.stream.startsWith(checkpointPrefix);
      if (batch.length < batchEventsMax && !isAwaited) continue;
    } else isGapless = item.isGapless === true;
    const unreadable: UnreadableView[] = [];
    const isWhole = isGapless || item.kind === 'caught-up';
    progress = takeOver(options, batch, { progress, unreadable, isWhole });
    for (const each of unreadable) await tellIfLast(options, each);
    const taken = batch.length;
    batch = [];
    onProgress(progress, item.kind === 'caught-up', taken);
  }
}

/** Of each stream the last event: those before it are superseded, and a store shows them until it cleans up. */
const lastOfEach = (batch: readonly RecordedEvent[]): RecordedEvent[] => [
  ...new Map(batch.map((event) => [event.stream, event])).values(),
];

interface Taking {
  progress: IndexProgress;
  /** Filled. */
  unreadable: UnreadableView[];
  /** Of every stream the view that the latest checkpoint counts on is in the file with this batch. */
  isWhole: boolean;
}

/** Writes a batch into the file, and gives how far the file has come. */
function takeOver(
  { log, file, viewVersion }: FollowOptions,
  batch: readonly RecordedEvent[],
  { progress, unreadable, isWhole }: Taking,
): IndexProgress {
  const found: IndexedView[] = [];
  let said = progress;
  for (const event of lastOfEach(batch)) {
    const kind = kindOfViewStream(event.stream, viewVersion);
    if (kind === undefined) said = afterCheckpoint(said, event, log);
    else {
      const view = kind.schema.safeParse(event.data);
      if (view.success) found.push({ kind, view: view.data });
      else unreadable.push({ event, error: view.error });
    }
  }
  const reached = isWhole ? withReached(said, viewVersion) : said;
  const last = batch.at(-1);
  const witness = found.map(toWitness).at(-1) ?? progress.witness;
  const isChanged = last !== undefined || reached.source !== progress.source;
  // Without a witness event the file cannot be recognised as this store's, so it records no progress.
  if (witness === undefined || !isChanged) return reached;
  const followed = omitUndefined({ followed: last?.position, followedIn: last?.stream });
  const next = { ...reached, ...followed, viewVersion, witness };
  file.apply(found, next);
  return next;
}

const toWitness = ({ kind, view: { token, revision, position } }: IndexedView) => ({
  stream: streamOf(kind, token),
  revision,
  position,
});

function afterCheckpoint(progress: IndexProgress, event: RecordedEvent, log: Log): IndexProgress {
  const checkpoint = viewCheckpointSchema.safeParse(event.data);
  if (!checkpoint.success) {
    tellUnreadable(log, event, checkpoint.error);
    return progress;
  }
  return { ...progress, shards: { ...progress.shards, [event.stream]: checkpoint.data } };
}

/** How far the file has come once it has all views that the checkpoints count on. */
function withReached(progress: IndexProgress, viewVersion: ViewVersion): IndexProgress {
  const { shards } = progress;
  if (shards === undefined) return progress;
  const { position, said } = furthestShards(
    (shard) => shards[checkpointStreamOf(viewVersion, shard)],
    (each) => each.position,
  );
  const setAside = said.flatMap(({ failedStreams }) => failedStreams.map(({ stream }) => stream));
  return { ...progress, source: later(progress.source, position), setAside };
}

interface UnreadableView {
  event: RecordedEvent;
  error: unknown;
}

/** Where another view has superseded it, nothing is missing. */
async function tellIfLast({ store, log }: FollowOptions, { event, error }: UnreadableView): Promise<void> {
  const last = await readLast(store, event.stream);
  if (last?.revision === event.revision) tellUnreadable(log, event, error);
}

const later = (one: Position, other: Position): Position => (one > other ? one : other);

const tellUnreadable = (log: Log, { stream, revision }: RecordedEvent, error: unknown): void =>
  log.error(
    { stream, revision, error },
    'a view cannot be read and is missing from the index; rebuild the views',
  );
