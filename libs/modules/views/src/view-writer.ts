/** Updates views of any kind in the store. */
import {
  InvalidArgument,
  StoreUnavailable,
  createFoldedStates,
  createRecentlyUsed,
  failureAt,
  readLast,
  type Appended,
  type Conflict,
  type EventStore,
  type FoldedStates,
  type RecordedEvent,
  type StreamFailure,
  beginning,
  createFailedStreams,
  type FailedStream,
} from '@tollgate/event-store';
import { InvariantViolation, TollgateError, type Ids, type Log } from '@tollgate/service-kit';
import { kindOfStream } from './view-kinds.ts';
import {
  streamOf,
  viewStreamOf,
  viewWrittenType,
  type ViewEnvelope,
  type ViewKind,
  type ViewCheckpoint,
} from './view-kind.ts';

/** Maximum conflicts with other projectors that write the same view. */
const conflictsMax = 10;

export interface ViewWriterOptions {
  store: EventStore;
  ids: Ids;
  cachedViewsMax: number;
}

interface StoredView {
  /** Revision of its last event; undefined without a readable one: it is rewritten. */
  includes: number | undefined;
  /** Last revision of the view's own stream. */
  revision: number | 'no-stream';
}

const notStored: StoredView = { includes: undefined, revision: 'no-stream' };

function createViewWriter(options: ViewWriterOptions) {
  const { store, ids, cachedViewsMax } = options;
  const states = createFoldedStates<ViewEnvelope>(store, { statesMax: cachedViewsMax });
  /** By stream of events; may be older than the stored view. */
  const recent = createRecentlyUsed<StoredView>(cachedViewsMax);

  async function load({ schema }: ViewKind, stream: string): Promise<StoredView> {
    const last = await readLast(store, viewStreamOf(stream));
    if (last === undefined) return notStored;
    return { includes: schema.safeParse(last.data).data?.revision, revision: last.revision };
  }

  async function replace(
    stream: string,
    view: ViewEnvelope,
    expected: StoredView['revision'],
  ): Promise<Appended | Conflict> {
    const event = { id: ids.uuid(), type: viewWrittenType, data: view, metadata: {} };
    return store.append(viewStreamOf(stream), [event], expected, { keepLast: 1 });
  }

  /** Writes it unless the stored view has as many events; `conflict` if another projector was faster. */
  async function tryWrite(stream: string, view: ViewEnvelope, stored: StoredView) {
    let current = stored;
    if (view.revision > (stored.includes ?? -1)) {
      const answer = await replace(stream, view, stored.revision);
      if (answer.kind === 'conflict') return 'conflict';
      current = { includes: view.revision, revision: answer.revision };
    }
    if (current.revision !== 'no-stream') recent.set(stream, current);
    return 'written';
  }

  async function write(stream: string, events: readonly RecordedEvent[]): Promise<StreamFailure | undefined> {
    const kind = requireKind(stream);
    const { view, failure } = await foldAll(states, kind, events);
    if (view === undefined) return failure;
    // A stream that begins in this batch has no view yet: writing one finds out.
    const isNew = events[0]?.revision === 0;
    let stored = recent.get(stream) ?? (isNew ? notStored : await load(kind, stream));
    for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
      if ((await tryWrite(stream, view, stored)) === 'written') return failure;
      stored = await load(kind, stream);
    }
    throw new TollgateError('view_contended', 'Other projectors keep writing the same view.', {
      retryable: true,
    });
  }

  return {
    /**
     * Makes sure that events of one stream, in order, are in its view. Missing events before them are read from the stream.
     * Returns the failure of the first event that cannot be applied.
     *
     * @throws StoreUnavailable
     */
    write: (stream: string, events: readonly RecordedEvent[]): Promise<StreamFailure | undefined> =>
      orFailure(stream, () => write(stream, events)),
    /** As `write`, with all events that the view does not include yet. */
    catchUp: (stream: string): Promise<StreamFailure | undefined> =>
      orFailure(stream, async () => {
        const { includes = -1 } = await load(requireKind(stream), stream);
        return write(stream, await Array.fromAsync(store.read(stream, { from: includes + 1 })));
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

/**
 * The view after as many events as can be applied. Folding is pure, so an error lies in the event or in the code, and recurs on
 * every attempt.
 *
 * @throws StoreUnavailable
 */
async function foldAll(
  states: FoldedStates<ViewEnvelope>,
  kind: ViewKind,
  events: readonly RecordedEvent[],
): Promise<Folded> {
  let view: ViewEnvelope | undefined;
  for (const event of events) {
    try {
      view = (await states.stepOf(event, kind.fold)).after;
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      return inOrder(kind, { view, failure: failureAt(event, error) });
    }
  }
  return inOrder(kind, { view, failure: undefined });
}

/** Parsing brings the fields into one order, so that the bytes of a view do not depend on its history. */
function inOrder(kind: ViewKind, { view, failure }: Folded): Folded {
  if (view === undefined) return { view, failure };
  const parsed = kind.schema.safeParse(view);
  if (parsed.success) return { view: parsed.data, failure };
  const { token, revision } = view;
  return { view: undefined, failure: failureAt({ stream: streamOf(kind, token), revision }, parsed.error) };
}

/** @throws InvariantViolation for a stream without a view: a caller must not request it */
function requireKind(stream: string): ViewKind {
  const kind = kindOfStream(stream);
  if (kind === undefined) throw new InvariantViolation('a stream without a view kind was projected');
  return kind;
}

export const nothingProjected: ViewCheckpoint = { position: beginning, counts: {}, failedStreams: [] };

/** Concurrent view writes: enough to be committed together, few enough to be answered in time. */
const writesAtOnceMax = 256;

/** Retries the failed streams: the code may have changed. @throws StoreUnavailable */
export async function createProjection(
  options: ViewWriterOptions & { log: Log },
  known: readonly FailedStream[],
) {
  const views = createViewWriter(options);
  const stillFailed: FailedStream[] = [];
  for (const { stream } of known) {
    const failure = await views.catchUp(stream);
    if (failure !== undefined) stillFailed.push(failure.failed);
  }
  const failures = createFailedStreams(options.log, stillFailed);
  return {
    failedStreams: failures.list,
    /**
     * Makes every event of the batch durable in its view, except those of the failed streams. Views are written concurrently,
     * so that the store commits them together.
     *
     * @throws StoreUnavailable; TollgateError `too_many_failed_streams`
     */
    async write(batch: readonly RecordedEvent[]): Promise<void> {
      const readable = batch.filter((event) => !failures.has(event.stream));
      const byStream = Map.groupBy(readable, (event) => event.stream);
      const waiting = byStream.entries();
      const writeNext = async () => {
        for (const [stream, events] of waiting) {
          const failure = await views.write(stream, events);
          if (failure !== undefined) failures.add(failure);
        }
      };
      const writers = Array.from({ length: Math.min(writesAtOnceMax, byStream.size) }, writeNext);
      // Waits for all even if one fails: no write may overlap the next attempt.
      for (const outcome of await Promise.allSettled(writers))
        if (outcome.status === 'rejected') throw outcome.reason as Error;
    },
  };
}
