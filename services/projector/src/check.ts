/** Compares the documents that are read with what their events give now. Only reads. */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import {
  applyTotalsChanges,
  documentKinds,
  kindOfViewStream,
  payoutKind,
  paymentKind,
  readGeneration,
  totalsCheckpointStreamOf,
  totalsDocumentSchema,
  totalsPrefixOf,
  totalsStreamOf,
  totalsVersions,
  viewStreamOf,
  viewStreamPrefixesOf,
  type DocumentEnvelope,
  type DocumentKind,
  type Generation,
  type TotalsDocument,
} from '@tollgate/read-models';
import { peekCheckpoint } from './checkpoint.ts';
import { createContributions } from './contributions.ts';
import { readProgress } from './documents-projection.ts';

export interface CheckOptions {
  store: EventStore;
  signal: AbortSignal;
  onProgress?: (progress: { documentsRead: number }) => void;
}

export interface Checked {
  documents: number;
  totals: number;
  /** Streams of documents that are not what the events give, or are missing. */
  differing: string[];
  /** Streams that are known not to be projected. */
  failed: string[];
}

const reportEvery = 1_000;
const batchEventsMax = 500;
const cachedDocumentsMax = 5_000;

/** @throws StoreUnavailable; what the signal was aborted with */
export async function checkDocuments(options: CheckOptions): Promise<Checked> {
  const { store, signal } = options;
  const { live } = (await readGeneration(store)).record;
  const documents = await checkEachDocument(options, live);
  const totals = await checkTotals(options, live);
  signal.throwIfAborted();
  const differing = [...documents.differing, ...totals.differing];
  return { documents: documents.count, totals: totals.count, differing, failed: documents.failed };
}

async function checkEachDocument({ store, signal, onProgress }: CheckOptions, generation: Generation) {
  const { position, failedStreams } = await readProgress(store, generation);
  const failed = failedStreams.map(({ stream }) => stream);
  const isFailed = new Set(failed.map((stream) => viewStreamOf(stream, generation)));
  const differing = new Set<string>();
  let count = 0;
  for await (const event of existing(store, viewStreamPrefixesOf(generation), signal)) {
    count += 1;
    if (count % reportEvery === 0) onProgress?.({ documentsRead: count });
    if (isFailed.has(event.stream) || (await isAsFolded(store, event, { generation, position }))) continue;
    differing.add(event.stream);
  }
  const sources = documentKinds.map(({ streamPrefix }) => streamPrefix);
  for await (const event of existing(store, sources, signal)) {
    if (event.position > position) break;
    const stream = viewStreamOf(event.stream, generation);
    if (event.revision !== 0 || isFailed.has(stream)) continue;
    if ((await lastOf(store, stream)) === undefined) differing.add(stream);
  }
  return { count, differing: [...differing], failed };
}

/** A document is what the events give that it says to have seen, and those that the checkpoint says are in it. */
async function isAsFolded(
  store: EventStore,
  view: RecordedEvent,
  { generation, position }: { generation: Generation; position: Position },
): Promise<boolean> {
  const kind = kindOfViewStream(view.stream, generation);
  const stored = kind?.schema.safeParse(view.data);
  if (kind === undefined || stored?.success !== true) return false;
  const stream = view.stream.slice(viewStreamOf('', generation).length);
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
  }: { kind: DocumentKind; stream: string; revision: number; position: Position },
): Promise<DocumentEnvelope | undefined> {
  let document: DocumentEnvelope | undefined;
  for await (const event of store.read(stream)) {
    if (event.revision > revision && event.position > position) break;
    try {
      document = kind.fold(document, event);
    } catch {
      // Whatever the document is, these events do not give it.
      return undefined;
    }
  }
  return document === undefined ? undefined : kind.schema.parse(document);
}

/** Adds everything up again in memory, and compares each document at the event that it has seen last. */
async function checkTotals({ store, signal }: CheckOptions, generation: Generation) {
  const checkpoint = await peekCheckpoint(store, totalsCheckpointStreamOf(generation), totalsVersions);
  const stored = new Map<string, { text: string; last: Position | undefined }>();
  for await (const { stream, data } of existing(store, [totalsPrefixOf(generation)], signal)) {
    const document = totalsDocumentSchema.safeParse(data);
    stored.set(stream, { text: JSON.stringify(data), last: document.data?.last.position });
  }
  const adding = createAdding(store, generation);
  const matching = new Set<string>();
  const differing = new Set<string>();
  for await (const { stream, document } of adding(signal)) {
    const { last: seenLast, text } = stored.get(stream) ?? {};
    const { position } = document.last;
    if (position === seenLast && text === JSON.stringify(totalsDocumentSchema.parse(document)))
      matching.add(stream);
    // What the checkpoint says is there, and is not.
    const isMissing = position > (seenLast ?? beginning) && position <= (checkpoint?.position ?? beginning);
    if (isMissing) differing.add(stream);
  }
  for (const stream of stored.keys()) if (!matching.has(stream)) differing.add(stream);
  return { count: stored.size, differing: [...differing] };
}

/** Gives each state of each totals document, in the order of events. */
function createAdding(store: EventStore, generation: Generation) {
  const contributions = createContributions({ store, cachedDocumentsMax });
  const totals = new Map<string, TotalsDocument>();
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
      const stream = totalsStreamOf(change.key, generation);
      const document = applyTotalsChanges(totals.get(stream), [change]);
      if (document === undefined) continue;
      totals.set(stream, document);
      yield { stream, document };
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
