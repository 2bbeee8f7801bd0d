/** Takes the documents of one generation over from the event store into one file of the index. */
import {
  beginning,
  type CaughtUp,
  type EventStore,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import {
  checkpointPrefixOf,
  checkpointSchema,
  checkpointStreamOf,
  furthestShards,
  totalsCheckpointStreamOf,
  type ViewCheckpoint,
  streamOf,
  viewSchemaVersions,
  viewStreamPrefixesOf,
  totalsViewSchema,
  totalsPrefixOf,
  totalsVersions,
  type TotalsView,
  viewVersionStream,
  type ViewVersion,
} from '@tollgate/views';

import { createViewReader } from './view-reader.ts';
import type { IndexFile, IndexProgress, IndexedView } from './index-file.ts';

/** Documents per transaction at most; it blocks the event loop for some milliseconds, and payments are taken in between. */
const batchEventsMax = 25;

export interface FollowOptions {
  store: EventStore;
  log: Log;
  file: IndexFile;
  viewVersion: ViewVersion;
  signal: AbortSignal;
  /** Everything up to here is in the file; `isCaughtUp` where that is all there is now, and how many were taken over. */
  onProgress: (progress: IndexProgress, isCaughtUp: boolean, taken: number) => void;
  /** Told each time what generation is live or being built may have changed. */
  onViewVersion?: (event: RecordedEvent) => void;
}

/** Follows until the signal is aborted. @throws Unusable and what SQLite throws where the file is damaged */
export async function followViews(options: FollowOptions): Promise<void> {
  const { store, file, viewVersion, signal, onProgress, onViewVersion } = options;
  const takeOver = createTakeOver(options);
  const isCheckpoint = checkpointTest(viewVersion);
  const prefixes = [
    ...viewStreamPrefixesOf(viewVersion),
    totalsPrefixOf(viewVersion),
    checkpointPrefixOf(viewVersion),
    totalsCheckpointStreamOf(viewVersion),
    ...(onViewVersion === undefined ? [] : [viewVersionStream]),
  ];
  let progress = file.progress();
  let batch: RecordedEvent[] = [];
  for await (const item of store.subscribe({ from: progress.followed, prefixes, signal })) {
    if (item.kind === 'event' && item.stream === viewVersionStream) {
      onViewVersion?.(item);
      continue;
    }
    if (item.kind === 'event') batch.push(item);
    if (!isBatchComplete(batch, item, isCheckpoint)) continue;
    progress = await takeOver(batch, progress);
    const taken = batch.length;
    batch = [];
    // Others have work as well while many documents are taken over.
    if (taken >= batchEventsMax) await nextTurn();
    onProgress(progress, item.kind === 'caught-up', taken);
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

type IsCheckpoint = (stream: string) => boolean;

function checkpointTest(viewVersion: ViewVersion): IsCheckpoint {
  const prefix = checkpointPrefixOf(viewVersion);
  const ofTotals = totalsCheckpointStreamOf(viewVersion);
  return (stream) => stream.startsWith(prefix) || stream === ofTotals;
}

function isBatchComplete(
  batch: readonly RecordedEvent[],
  item: RecordedEvent | CaughtUp,
  isCheckpoint: IsCheckpoint,
): boolean {
  if (item.kind === 'caught-up' || batch.length >= batchEventsMax) return true;
  // Whoever waits for a position waits for a checkpoint.
  return isCheckpoint(item.stream);
}

/** Gives what writes a batch into the file, and gives how far the file has come. */
function createTakeOver({ store, log, file, viewVersion }: FollowOptions) {
  const views = createViewReader({ store, log, viewVersion });
  const isCheckpoint = checkpointTest(viewVersion);
  const totalsPrefix = totalsPrefixOf(viewVersion);
  return async (batch: readonly RecordedEvent[], progress: IndexProgress): Promise<IndexProgress> => {
    const last = batch.at(-1);
    if (last === undefined) return progress;
    const found: IndexedView[] = [];
    const totals: TotalsView[] = [];
    let said = progress;
    for (const event of batch) {
      if (isCheckpoint(event.stream)) said = afterCheckpoint(said, event, { viewVersion, log });
      else if (event.stream.startsWith(totalsPrefix)) totals.push(...readTotals(event, log));
      else found.push(...[await views.read(event)].filter((view) => view !== undefined));
    }
    const witness = found.map(toWitness).at(-1) ?? totals.at(-1)?.last ?? progress.witness;
    // Without a witness the file could not be told from another store's, so it remembers nothing.
    if (witness === undefined) return said;
    const next = { ...said, followed: last.position, followedIn: last.stream, viewVersion, witness };
    file.apply(found, next, totals);
    return next;
  };
}

const toWitness = ({ kind, view: { token, revision, position } }: IndexedView) => ({
  stream: streamOf(kind, token),
  revision,
  position,
});

/** One of another version is added up again by the projector, and comes then. */
function readTotals({ stream, revision, data }: RecordedEvent, log: Log): TotalsView[] {
  const view = totalsViewSchema.safeParse(data);
  if (view.success) return [view.data];
  log.warn(
    { stream, revision },
    'totals of another version are in the store; the index goes on without them',
  );
  return [];
}

function afterCheckpoint(
  progress: IndexProgress,
  event: RecordedEvent,
  { viewVersion, log }: { viewVersion: ViewVersion; log: Log },
): IndexProgress {
  const { stream, revision, data } = event;
  const checkpoint = checkpointSchema.safeParse(data);
  if (!checkpoint.success) {
    const message = 'the checkpoint of the documents cannot be read';
    log.error({ stream, revision, error: checkpoint.error }, message);
    return progress;
  }
  return stream === totalsCheckpointStreamOf(viewVersion)
    ? afterTotals(progress, checkpoint.data)
    : afterShard(progress, { stream, viewVersion, checkpoint: checkpoint.data });
}

// What holds for the documents of another version says nothing about these; and a part of a sum is not to be shown.
const afterTotals = (progress: IndexProgress, checkpoint: ViewCheckpoint): IndexProgress =>
  checkpoint.viewSchemaVersions === totalsVersions && checkpoint.isPartial === undefined
    ? { ...progress, totals: later(progress.totals ?? beginning, checkpoint.position) }
    : progress;

function afterShard(
  progress: IndexProgress,
  {
    stream,
    viewVersion,
    checkpoint,
  }: { stream: string; viewVersion: ViewVersion; checkpoint: ViewCheckpoint },
): IndexProgress {
  if (checkpoint.viewSchemaVersions !== viewSchemaVersions) return progress;
  const shards = { ...progress.shards, [stream]: checkpoint.position };
  const { position } = furthestShards(
    (shard) => shards[checkpointStreamOf(viewVersion, shard)],
    (each) => each,
  );
  return { ...progress, shards, source: later(progress.source, position) };
}

const later = (one: Position, other: Position): Position => (one > other ? one : other);
