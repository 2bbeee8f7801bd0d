/** Updates views of any kind in the store. */
import {
  InvalidArgument,
  createRecentlyUsed,
  failureAt,
  readLast,
  type Appended,
  type Conflict,
  type EventStore,
  type RecordedEvent,
  type StreamFailure,
} from '@tollgate/event-store';
import { InvariantViolation, TollgateError, type Ids } from '@tollgate/service-kit';
import {
  kindOfStream,
  nextRevision,
  streamOf,
  viewStreamOf,
  type ViewEnvelope,
  type ViewKind,
  type ViewVersion,
} from '@tollgate/views';

export interface ViewWriter {
  /**
   * Makes sure that events of one stream, in order, are in its view. Events that are missing before them are read
   * from the stream. Returns the failure of the first event that cannot be applied.
   *
   * @throws StoreUnavailable
   */
  write(stream: string, events: readonly RecordedEvent[]): Promise<StreamFailure | undefined>;
  /** As `write`, with all events that the view does not include yet. */
  catchUp(stream: string): Promise<StreamFailure | undefined>;
}

/** The most conflicts with other projectors that write the same view. */
const conflictsMax = 10;

export interface ViewWriterOptions {
  store: EventStore;
  ids: Ids;
  viewVersion: ViewVersion;
  cachedViewsMax: number;
}

/** A view as stored. */
interface StoredView {
  view: ViewEnvelope | undefined;
  /** Last revision of the view's own stream. */
  revision: number | 'no-stream';
}

const notStored: StoredView = { view: undefined, revision: 'no-stream' };

export function createViewWriter(options: ViewWriterOptions): ViewWriter {
  const { store, ids, viewVersion, cachedViewsMax } = options;
  /** By the stream whose events are folded; it may be older than the stored view. */
  const recent = createRecentlyUsed<StoredView>(cachedViewsMax);

  async function load({ schema }: ViewKind, stream: string): Promise<StoredView> {
    const last = await readLast(store, viewStreamOf(stream, viewVersion));
    if (last === undefined) return notStored;
    // A view that cannot be read is folded again from the beginning.
    const view = schema.safeParse(last.data);
    return { view: view.success ? view.data : undefined, revision: last.revision };
  }

  async function replace(
    kind: ViewKind,
    view: ViewEnvelope,
    expected: StoredView['revision'],
  ): Promise<Appended | Conflict> {
    const stream = viewStreamOf(streamOf(kind, view.token), viewVersion);
    const event = { id: ids.uuid(), type: kind.writtenEventType, data: view, metadata: {} };
    return store.append(stream, [event], expected, { keepLast: 1 });
  }

  async function readEvents(stream: string, from: number, limit = Infinity): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const event of store.read(stream, { from, limit })) events.push(event);
    return events;
  }

  /** The events that continue a view: the given ones, preceded by any that are missing. */
  async function continuing(
    view: ViewEnvelope | undefined,
    stream: string,
    events: readonly RecordedEvent[],
  ) {
    const next = nextRevision(view);
    const missing = (events[0]?.revision ?? next) - next;
    return missing > 0 ? [...(await readEvents(stream, next, missing)), ...events] : events;
  }

  /** One attempt; `conflict` if another projector was faster. */
  async function tryWrite(stream: string, events: readonly RecordedEvent[], stored: StoredView) {
    const kind = requireKind(stream);
    const missingToo = await continuing(stored.view, stream, events);
    const { view, failure } = foldAll(kind, stored.view, missingToo);
    if (view !== undefined && view !== stored.view) {
      const answer = await replace(kind, view, stored.revision);
      if (answer.kind === 'conflict') return 'conflict';
      recent.set(stream, { view, revision: answer.revision });
    } else if (stored.revision !== 'no-stream') recent.set(stream, stored);
    return { failure };
  }

  async function write(stream: string, events: readonly RecordedEvent[]): Promise<StreamFailure | undefined> {
    const kind = requireKind(stream);
    // A stream that begins in this batch hardly has a view: writing one finds out.
    const isNew = events[0]?.revision === 0;
    let stored = recent.get(stream) ?? (isNew ? notStored : await load(kind, stream));
    for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
      const outcome = await tryWrite(stream, events, stored);
      if (outcome !== 'conflict') return outcome.failure;
      stored = await load(kind, stream);
    }
    throw new TollgateError('view_contended', 'Other projectors keep writing the same view.', {
      retryable: true,
    });
  }

  return {
    write: (stream, events) => orFailure(stream, () => write(stream, events)),
    catchUp: (stream) =>
      orFailure(stream, async () => {
        const { view } = await load(requireKind(stream), stream);
        return write(stream, await readEvents(stream, nextRevision(view)));
      }),
  };
}

/** An event that the store never accepts is the fault of the stream, not of the store. */
async function orFailure(
  stream: string,
  work: () => Promise<StreamFailure | undefined>,
): Promise<StreamFailure | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidArgument) return failureAt({ stream, revision: 0 }, error);
    throw error;
  }
}

interface Folded {
  view: ViewEnvelope | undefined;
  failure: StreamFailure | undefined;
}

/** Folding is pure, so an error is in the event or in the code, and recurs on every attempt. */
function foldAll(kind: ViewKind, before: ViewEnvelope | undefined, events: readonly RecordedEvent[]): Folded {
  let view = before;
  for (const event of events) {
    try {
      view = kind.fold(view, event);
    } catch (error) {
      return inOrder(kind, before, { view, failure: failureAt(event, error) });
    }
  }
  return inOrder(kind, before, { view, failure: undefined });
}

/** Parsing brings the fields into one order, so that a view has the same bytes however it came about. */
function inOrder(kind: ViewKind, before: ViewEnvelope | undefined, { view, failure }: Folded): Folded {
  if (view === before || view === undefined) return { view, failure };
  const parsed = kind.schema.safeParse(view);
  if (parsed.success) return { view: parsed.data, failure };
  const { token, revision } = view;
  return { view: before, failure: failureAt({ stream: streamOf(kind, token), revision }, parsed.error) };
}

/** @throws InvariantViolation for a stream that has no view: it must not have been asked for. */
function requireKind(stream: string): ViewKind {
  const kind = kindOfStream(stream);
  if (kind === undefined) throw new InvariantViolation('a stream without a view kind was projected');
  return kind;
}
