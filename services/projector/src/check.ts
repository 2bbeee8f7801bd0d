/** Compares the live views with the fold of their events. Read-only. */
import {
  readLast,
  beginning,
  createRecentlyUsed,
  type EventStore,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import {
  viewKinds,
  kindOfViewStream,
  readViewVersion,
  viewStreamOf,
  viewStreamPrefixesOf,
  viewVersionsToRemove,
  type ViewEnvelope,
  type ViewKind,
  type ViewVersion,
} from '@tollgate/views';
import { readProgress, requireLive } from './projection.ts';

export interface CheckOptions {
  store: EventStore;
  signal: AbortSignal;
  onProgress?: (progress: { viewsRead: number }) => void;
}

export interface Checked {
  views: number;
  /** Streams of views that differ from the fold of their events, or are missing. */
  differing: string[];
  /** Streams that are known to have failed. */
  failed: string[];
  /** View versions that nobody reads, and that projectors have still to remove. */
  toRemove: ViewVersion[];
}

const reportEvery = 1_000;

/** @throws StoreUnavailable; what the signal was aborted with */
export async function checkViews({ store, signal, onProgress }: CheckOptions): Promise<Checked> {
  const { record } = await readViewVersion(store);
  const viewVersion = requireLive(record);
  const { position, failedStreams } = await readProgress(store, viewVersion);
  const failed = failedStreams.map(({ stream }) => stream);
  const isFailed = new Set(failed.map((stream) => viewStreamOf(stream, viewVersion)));
  const differing = new Set<string>();
  const isLast = createLastCheck(store);
  let count = 0;
  await withEach(existing(store, viewStreamPrefixesOf(viewVersion), signal), async (event) => {
    if (!(await isLast(event))) return;
    count += 1;
    if (count % reportEvery === 0) onProgress?.({ viewsRead: count });
    if (isFailed.has(event.stream) || (await isAsFolded(store, event, { viewVersion, position }))) return;
    differing.add(event.stream);
  });
  const sources = viewKinds.map(({ streamPrefix }) => streamPrefix);
  await withEach(existing(store, sources, signal, position), async (event) => {
    const stream = viewStreamOf(event.stream, viewVersion);
    if (event.revision !== 0 || isFailed.has(stream)) return;
    if ((await readLast(store, stream)) === undefined) differing.add(stream);
  });
  signal.throwIfAborted();
  const toRemove = await viewVersionsToRemove(store);
  return { views: count, differing: [...differing], failed, toRemove };
}

/** How many streams the last revisions are remembered of; the others are read again. */
const rememberedRevisionsMax = 20_000;

/**
 * Gives the function that tells a view from those that it has superseded: stores show them all until they clean up, in any
 * order. One that is superseded while this runs comes again.
 */
function createLastCheck(store: EventStore): (event: RecordedEvent) => Promise<boolean> {
  const known = createRecentlyUsed<{ revision: number }>(rememberedRevisionsMax);
  return async ({ stream, revision }) => {
    if (revision < (known.get(stream)?.revision ?? 0)) return false;
    const last = await readLast(store, stream);
    if (last !== undefined) known.set(stream, { revision: last.revision });
    return last?.revision === revision;
  };
}

/** A view is the fold of the events that it claims to include, and of those that the checkpoint claims. */
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
      // Whatever the view is, it is not the fold of these events.
      return undefined;
    }
  }
  return view === undefined ? undefined : kind.schema.parse(view);
}

/** How many events are looked at at the same time. */
const atOnce = 32;

async function withEach(
  events: AsyncIterable<RecordedEvent>,
  work: (event: RecordedEvent) => Promise<void>,
): Promise<void> {
  let batch: RecordedEvent[] = [];
  for await (const event of events) {
    if (batch.push(event) < atOnce) continue;
    await Promise.all(batch.map(work));
    batch = [];
  }
  await Promise.all(batch.map(work));
}

/** The events that there are now, those behind a position left out. */
async function* existing(
  store: EventStore,
  prefixes: readonly string[],
  signal: AbortSignal,
  until?: Position,
): AsyncGenerator<RecordedEvent, void, void> {
  for await (const item of store.subscribe({ from: beginning, prefixes, signal })) {
    if (item.kind === 'caught-up' || (until !== undefined && item.position > until)) return;
    yield item;
  }
}
