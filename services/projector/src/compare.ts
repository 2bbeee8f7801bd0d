/** Compares the stored views, and the rows of an index, with the fold of their events from zero. Read-only. */
import {
  beginning,
  eventsUntilNow,
  readLast,
  type EventStore,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import {
  checkpointStream,
  foldedPrefixes,
  kindOfStream,
  viewCheckpointSchema,
  viewSchemaVersion,
  viewStreamOf,
  type ViewEnvelope,
  type ViewKind,
  nothingProjected,
} from '@tollgate/views';

/** The part of an index that the comparison needs. */
export interface ComparedIndex {
  /** Every event at or before it is in its row. */
  position(): Position;
  rowOf(kind: ViewKind, token: string): ViewEnvelope | undefined;
}

interface CompareOptions {
  store: EventStore;
  index?: ComparedIndex;
  signal: AbortSignal;
  onProgress?: (progress: { compared: number }) => void;
}

export interface Compared {
  /** Streams that have a view. */
  views: number;
  /** Views in the form of another release, earlier or later: readers fold their events instead. */
  ofOtherRelease: number;
  /** Streams of views that differ from the fold of their events, or are missing. */
  differing: string[];
  /** Streams whose rows in the index differ from the fold of their events, or are missing. */
  differingInIndex: string[];
  /** Streams that the projector is known to have failed on. */
  failed: string[];
}

const reportEvery = 1_000;
/** Streams that are compared at the same time. */
const atOnce = 128;

/** Does the work for every stream that has a view, many at a time. @throws StoreUnavailable; the signal's reason */
export async function eachStream(
  { store, signal, onProgress }: Pick<CompareOptions, 'store' | 'signal' | 'onProgress'>,
  work: (stream: string) => Promise<void>,
): Promise<number> {
  let batch: string[] = [];
  let [compared, reported] = [0, 0];
  const workOnBatch = async () => {
    await Promise.all(batch.map(work));
    compared += batch.length;
    batch = [];
    if (compared < reported + reportEvery) return;
    reported = compared;
    onProgress?.({ compared });
  };
  for await (const { revision, stream } of eventsUntilNow(store, {
    from: beginning,
    prefixes: foldedPrefixes,
    signal,
  })) {
    if (revision === 0 && batch.push(stream) >= atOnce) await workOnBatch();
  }
  await workOnBatch();
  signal.throwIfAborted();
  return compared;
}

/** @throws StoreUnavailable; the signal's reason */
export async function compareReadModels(options: CompareOptions): Promise<Compared> {
  const { store, index } = options;
  const last = viewCheckpointSchema.safeParse((await readLast(store, checkpointStream))?.data).data;
  const { position, failedStreams } = last ?? nothingProjected;
  const failed = failedStreams.map(({ stream }) => stream);
  const claims = { views: position, index: index?.position() ?? beginning };
  const found: Compared = { views: 0, ofOtherRelease: 0, differing: [], differingInIndex: [], failed };
  await eachStream(options, (stream) => compareStream(options, { stream, claims, found }));
  return found;
}

interface Comparing {
  stream: string;
  claims: { views: Position; index: Position };
  /** Filled. */
  found: Compared;
}

async function compareStream(
  { store, index }: CompareOptions,
  { stream, claims, found }: Comparing,
): Promise<void> {
  const kind = kindOfStream(stream);
  if (kind === undefined) return;
  const [stored, events] = await Promise.all([
    readLast(store, viewStreamOf(stream)),
    Array.fromAsync(store.read(stream)),
  ]);
  const row = index?.rowOf(kind, stream.slice(kind.streamPrefix.length));
  // A row has its fields in the order of the fold.
  const ordered = row && (kind.schema.safeParse(row).data ?? row);
  const dueBy = (claimed: Position) => events.filter((event) => event.position <= claimed).length;
  if (stored !== undefined) found.views += 1;
  if (isOfOtherRelease(stored?.data)) found.ofOtherRelease += 1;
  else if (!found.failed.includes(stream) && !isAsFolded(kind, events, stored?.data, dueBy(claims.views)))
    found.differing.push(viewStreamOf(stream));
  if (index !== undefined && !isAsFolded(kind, events, ordered, dueBy(claims.index)))
    found.differingInIndex.push(stream);
}

const isOfOtherRelease = (data: unknown): boolean =>
  typeof data === 'object' &&
  data !== null &&
  'schemaVersion' in data &&
  data.schemaVersion !== viewSchemaVersion;

/** True if the view equals the fold of the events that it claims to include, and these are all that are due. */
function isAsFolded(kind: ViewKind, events: readonly RecordedEvent[], data: unknown, due: number): boolean {
  if (data === undefined) return due === 0;
  const { revision } = Object(data) as { revision?: unknown };
  return (
    typeof revision === 'number' &&
    revision + 1 >= due &&
    foldedText(kind, events, revision) === JSON.stringify(data)
  );
}

/** The text of the view after the event with that revision, as the projector writes it; undefined if it cannot be folded. */
function foldedText(kind: ViewKind, events: readonly RecordedEvent[], last: number): string | undefined {
  try {
    const folded = events
      .filter(({ revision }) => revision <= last)
      .reduce<ViewEnvelope | undefined>((state, event) => kind.fold(state, event), undefined);
    return JSON.stringify(kind.schema.parse(folded));
  } catch {
    return undefined;
  }
}
