/** Brings documents of any kind up to date in the store. */
import { InvalidArgument, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import {
  kindOfStream,
  nextRevision,
  type ViewEnvelope,
  type ViewKind,
  type ViewVersion,
} from '@tollgate/views';
import { InvariantViolation, TollgateError, errorCode, type Ids } from '@tollgate/service-kit';
import { createViewStore, notStored, type StoredView } from './view-store.ts';
import { foldByKind, type Failure, type Fold } from './projection.ts';

export interface ViewWriter {
  /**
   * Makes sure that events of one stream, in order, are in its document. Events that are missing before them are read
   * from the stream. Gives the failure of the first event that cannot be applied.
   *
   * @throws StoreUnavailable
   */
  write(stream: string, events: readonly RecordedEvent[]): Promise<Failure | undefined>;
  /** As `write`, with all events that the document does not have yet. */
  catchUp(stream: string): Promise<Failure | undefined>;
  /** Forgets what it remembers of the documents, after a failure that may have left them otherwise. */
  forget(): void;
}

/** Other projectors that write the same document at the same time are met this often at most. */
const conflictsMax = 10;

export interface ViewWriterOptions {
  store: EventStore;
  ids: Ids;
  viewVersion: ViewVersion;
  cachedViewsMax: number;
  /** That of the kind, by default. */
  fold?: Fold;
}

export function createViewWriter(options: ViewWriterOptions): ViewWriter {
  const { store, fold = foldByKind } = options;
  const views = createViewStore(options);

  async function readEvents(stream: string, from: number, limit = Infinity): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const event of store.read(stream, { from, limit })) events.push(event);
    return events;
  }

  /** The events that continue a document: the given ones, and those between it and them. */
  async function continuing(
    view: ViewEnvelope | undefined,
    stream: string,
    events: readonly RecordedEvent[],
  ) {
    const next = nextRevision(view);
    const missing = (events[0]?.revision ?? next) - next;
    return missing > 0 ? [...(await readEvents(stream, next, missing)), ...events] : events;
  }

  /** One try; `conflict` where another projector was faster. */
  async function tryWrite(stream: string, events: readonly RecordedEvent[], stored: StoredView) {
    const kind = requireKind(stream);
    const missingToo = await continuing(stored.view, stream, events);
    const { view, failure } = foldAll(fold, {
      ...{ kind, stream },
      before: stored.view,
      events: missingToo,
    });
    if (view !== undefined && view !== stored.view) {
      const answer = await views.replace(kind, view, stored.revision);
      if (answer.kind === 'conflict') return 'conflict';
      views.remember(stream, { view, revision: answer.revision });
    } else if (stored.revision !== 'no-stream') views.remember(stream, stored);
    return { failure };
  }

  async function write(stream: string, events: readonly RecordedEvent[]): Promise<Failure | undefined> {
    const kind = requireKind(stream);
    // A stream that begins in this batch hardly has a document: that is found out by writing one.
    const isNew = events[0]?.revision === 0;
    let stored = views.recall(stream) ?? (isNew ? notStored : await views.load(kind, stream));
    for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
      const outcome = await tryWrite(stream, events, stored);
      if (outcome !== 'conflict') return outcome.failure;
      stored = await views.load(kind, stream);
    }
    throw new TollgateError('view_contended', 'Other projectors keep writing a document.', {
      retryable: true,
    });
  }

  return {
    write: (stream, events) => orFailure(stream, () => write(stream, events)),
    catchUp: (stream) =>
      orFailure(stream, async () => {
        const { view } = await views.load(requireKind(stream), stream);
        return write(stream, await readEvents(stream, nextRevision(view)));
      }),
    forget: () => views.forgetAll(),
  };
}

/** What the store will never take is the fault of the stream, not of the store. */
async function orFailure(
  stream: string,
  work: () => Promise<Failure | undefined>,
): Promise<Failure | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidArgument) return failureAt(stream, 0, error);
    throw error;
  }
}

interface ToFold {
  kind: ViewKind;
  stream: string;
  before: ViewEnvelope | undefined;
  events: readonly RecordedEvent[];
}

interface Folded {
  view: ViewEnvelope | undefined;
  failure: Failure | undefined;
}

/** Folding is pure, so whatever it throws lies in the event or in the code, and comes again with every try. */
function foldAll(fold: Fold, { kind, stream, before, events }: ToFold): Folded {
  let view = before;
  let failure: Failure | undefined;
  for (const event of events) {
    try {
      view = fold(kind, view, event);
    } catch (error) {
      failure = failureAt(stream, event.revision, error);
      break;
    }
  }
  if (view === before || view === undefined) return { view, failure };
  // Parsing brings the fields into one order, so that a document has the same bytes however it came about.
  const inOrder = kind.schema.safeParse(view);
  if (inOrder.success) return { view: inOrder.data, failure };
  return { view: before, failure: failureAt(stream, view.revision, inOrder.error) };
}

/** @throws InvariantViolation for a stream that has no document: it must not have been asked for. */
export function requireKind(stream: string): ViewKind {
  const kind = kindOfStream(stream);
  if (kind === undefined) throw new InvariantViolation('a stream without a kind of document was projected');
  return kind;
}

export const failureAt = (stream: string, revision: number, error: unknown): Failure => ({
  failed: { stream, revision, code: errorCode(error) ?? 'event_undecodable' },
  error,
});
