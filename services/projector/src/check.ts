/** Compares the documents that are read with what their events give now. Only reads. */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import {
  applyTotalsChanges,
  viewKinds,
  kindOfViewStream,
  payoutKind,
  paymentKind,
  readViewVersion,
  totalsCheckpointStreamOf,
  totalsViewSchema,
  totalsPrefixOf,
  totalsStreamOf,
  totalsVersions,
  viewStreamOf,
  viewStreamPrefixesOf,
  type ViewEnvelope,
  type ViewKind,
  type ViewVersion,
  type TotalsView,
} from '@tollgate/views';
import { peekCheckpoint } from './checkpoint.ts';
import { createContributions } from './contributions.ts';
import { readProgress } from './views-projection.ts';

export interface CheckOptions {
  store: EventStore;
  signal: AbortSignal;
  onProgress?: (progress: { viewsRead: number }) => void;
}

export interface Checked {
  views: number;
  totals: number;
  /** Streams of documents that are not what the events give, or are missing. */
  differing: string[];
  /** Streams that are known not to be projected. */
  failed: string[];
}

const reportEvery = 1_000;
const batchEventsMax = 500;
const cachedViewsMax = 5_000;

/** @throws StoreUnavailable; what the signal was aborted with */
export async function checkViews(options: CheckOptions): Promise<Checked> {
  const { store, signal } = options;
  const { live } = (await readViewVersion(store)).record;
  const views = await checkEachView(options, live);
  const totals = await checkTotals(options, live);
  signal.throwIfAborted();
  const differing = [...views.differing, ...totals.differing];
  return { views: views.count, totals: totals.count, differing, failed: views.failed };
}

async function checkEachView({ store, signal, onProgress }: CheckOptions, viewVersion: ViewVersion) {
  const { position, failedStreams } = await readProgress(store, viewVersion);
  const failed = failedStreams.map(({ stream }) => stream);
  const isFailed = new Set(failed.map((stream) => viewStreamOf(stream, viewVersion)));
  const differing = new Set<string>();
  let count = 0;
  for await (const event of existing(store, viewStreamPrefixesOf(viewVersion), signal)) {
    count += 1;
    if (count % reportEvery === 0) onProgress?.({ viewsRead: count });
    if (isFailed.has(event.stream) || (await isAsFolded(store, event, { viewVersion, position }))) continue;
    differing.add(event.stream);
  }
  const sources = viewKinds.map(({ streamPrefix }) => streamPrefix);
  for await (const event of existing(store, sources, signal)) {
    if (event.position > position) break;
    const stream = viewStreamOf(event.stream, viewVersion);
    if (event.revision !== 0 || isFailed.has(stream)) continue;
    if ((await lastOf(store, stream)) === undefined) differing.add(stream);
  }
  return { count, differing: [...differing], failed };
}

/** A document is what the events give that it says to have seen, and those that the checkpoint says are in it. */
async function isAsFolded(
  store: EventStore,
  view: RecordedEvent,
  { viewVersion, position }: { viewVersion: ViewVersion; position: Position },
): Promise<boolean> {
  const kind = kindOfViewStream(view.stream, viewVersion);
  const stored = kind?.schema.safeParse(view.data);
  if (kind === undefined || stored?.success !== true) return false;
  const stream = view.stream.slice(viewStreamOf('', viewVersion).length);
  const folded = await foldUntil(store, { kind, stream, revision: stored.data.revision, position });
  return JSON.stringify(folded) === JSON.stringify(view.data);
}

async function foldUntil(
  store: EventStore,
  {
    kind,
    stream,
    revision,
    position,
  }: { kind: ViewKind; stream: string; revision: number; position: Position },
): Promise<ViewEnvelope | undefined> {
  let view: ViewEnvelope | undefined;
  for await (const event of store.read(stream)) {
    if (event.revision > revision && event.position > position) break;
    try {
      view = kind.fold(view, event);
    } catch {
      // Whatever the document is, these events do not give it.
      return undefined;
    }
  }
  return view === undefined ? undefined : kind.schema.parse(view);
}

/** Adds everything up again in memory, and compares each document at the event that it has seen last. */
async function checkTotals({ store, signal }: CheckOptions, viewVersion: ViewVersion) {
  const checkpoint = await peekCheckpoint(store, totalsCheckpointStreamOf(viewVersion), totalsVersions);
  const stored = new Map<string, { text: string; last: Position | undefined }>();
  for await (const { stream, data } of existing(store, [totalsPrefixOf(viewVersion)], signal)) {
    const view = totalsViewSchema.safeParse(data);
    stored.set(stream, { text: JSON.stringify(data), last: view.data?.last.position });
  }
  const adding = createAdding(store, viewVersion);
  const matching = new Set<string>();
  const differing = new Set<string>();
  for await (const { stream, view } of adding(signal)) {
    const { last: seenLast, text } = stored.get(stream) ?? {};
    const { position } = view.last;
    if (position === seenLast && text === JSON.stringify(totalsViewSchema.parse(view))) matching.add(stream);
    // What the checkpoint says is there, and is not.
    const isMissing = position > (seenLast ?? beginning) && position <= (checkpoint?.position ?? beginning);
    if (isMissing) differing.add(stream);
  }
  for (const stream of stored.keys()) if (!matching.has(stream)) differing.add(stream);
  return { count: stored.size, differing: [...differing] };
}

/** Gives each state of each totals document, in the order of events. */
function createAdding(store: EventStore, viewVersion: ViewVersion) {
  const contributions = createContributions({ store, cachedViewsMax });
  const totals = new Map<string, TotalsView>();
  const failed = new Set<string>();

  async function* add(batch: readonly RecordedEvent[]) {
    const changes = [];
    for (const [name, events] of Map.groupBy(batch, ({ stream }) => stream)) {
      if (failed.has(name)) continue;
      const followed = await contributions.follow(name, events);
      if (followed.failure !== undefined) failed.add(name);
      changes.push(...followed.changes);
    }
    for (const change of changes.sort((one, other) => (one.last.position < other.last.position ? -1 : 1))) {
      const stream = totalsStreamOf(change.key, viewVersion);
      const view = applyTotalsChanges(totals.get(stream), [change]);
      if (view === undefined) continue;
      totals.set(stream, view);
      yield { stream, view };
    }
  }

  return async function* adding(signal: AbortSignal) {
    const prefixes = [paymentKind, payoutKind].map(({ streamPrefix }) => streamPrefix);
    let batch: RecordedEvent[] = [];
    for await (const event of existing(store, prefixes, signal)) {
      batch.push(event);
      if (batch.length < batchEventsMax) continue;
      yield* add(batch);
      batch = [];
    }
    yield* add(batch);
  };
}

/** The events of now. */
async function* existing(store: EventStore, prefixes: readonly string[], signal: AbortSignal) {
  for await (const item of store.subscribe({ from: beginning, prefixes, signal })) {
    if (item.kind === 'caught-up') return;
    yield item;
  }
}

async function lastOf(store: EventStore, stream: string): Promise<RecordedEvent | undefined> {
  for await (const event of store.read(stream, { direction: 'backwards', limit: 1 })) return event;
  return undefined;
}
