/** Brings documents of any kind up to date in the store. */
import { InvalidArgument, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import {
  kindOfStream,
  nextRevision,
  type DocumentEnvelope,
  type DocumentKind,
  type Generation,
} from '@tollgate/read-models';
import { InvariantViolation, TollgateError, errorCode, type Ids } from '@tollgate/service-kit';
import { createDocumentStore, notStored, type StoredDocument } from './document-store.ts';
import { foldByKind, type Failure, type Fold } from './projection.ts';

export interface DocumentWriter {
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

export interface DocumentWriterOptions {
  store: EventStore;
  ids: Ids;
  generation: Generation;
  cachedDocumentsMax: number;
  /** That of the kind, by default. */
  fold?: Fold;
}

export function createDocumentWriter(options: DocumentWriterOptions): DocumentWriter {
  const { store, fold = foldByKind } = options;
  const documents = createDocumentStore(options);

  async function readEvents(stream: string, from: number, limit = Infinity): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const event of store.read(stream, { from, limit })) events.push(event);
    return events;
  }

  /** The events that continue a document: the given ones, and those between it and them. */
  async function continuing(
    document: DocumentEnvelope | undefined,
    stream: string,
    events: readonly RecordedEvent[],
  ) {
    const next = nextRevision(document);
    const missing = (events[0]?.revision ?? next) - next;
    return missing > 0 ? [...(await readEvents(stream, next, missing)), ...events] : events;
  }

  /** One try; `conflict` where another projector was faster. */
  async function tryWrite(stream: string, events: readonly RecordedEvent[], stored: StoredDocument) {
    const kind = requireKind(stream);
    const missingToo = await continuing(stored.document, stream, events);
    const { document, failure } = foldAll(fold, {
      ...{ kind, stream },
      before: stored.document,
      events: missingToo,
    });
    if (document !== undefined && document !== stored.document) {
      const answer = await documents.replace(kind, document, stored.revision);
      if (answer.kind === 'conflict') return 'conflict';
      documents.remember(stream, { document, revision: answer.revision });
    } else if (stored.revision !== 'no-stream') documents.remember(stream, stored);
    return { failure };
  }

  async function write(stream: string, events: readonly RecordedEvent[]): Promise<Failure | undefined> {
    const kind = requireKind(stream);
    // A stream that begins in this batch hardly has a document: that is found out by writing one.
    const isNew = events[0]?.revision === 0;
    let stored = documents.recall(stream) ?? (isNew ? notStored : await documents.load(kind, stream));
    for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
      const outcome = await tryWrite(stream, events, stored);
      if (outcome !== 'conflict') return outcome.failure;
      stored = await documents.load(kind, stream);
    }
    throw new TollgateError('document_contended', 'Other projectors keep writing a document.', {
      retryable: true,
    });
  }

  return {
    write: (stream, events) => orFailure(stream, () => write(stream, events)),
    catchUp: (stream) =>
      orFailure(stream, async () => {
        const { document } = await documents.load(requireKind(stream), stream);
        return write(stream, await readEvents(stream, nextRevision(document)));
      }),
    forget: () => documents.forgetAll(),
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
  kind: DocumentKind;
  stream: string;
  before: DocumentEnvelope | undefined;
  events: readonly RecordedEvent[];
}

interface Folded {
  document: DocumentEnvelope | undefined;
  failure: Failure | undefined;
}

/** Folding is pure, so whatever it throws lies in the event or in the code, and comes again with every try. */
function foldAll(fold: Fold, { kind, stream, before, events }: ToFold): Folded {
  let document = before;
  let failure: Failure | undefined;
  for (const event of events) {
    try {
      document = fold(kind, document, event);
    } catch (error) {
      failure = failureAt(stream, event.revision, error);
      break;
    }
  }
  if (document === before || document === undefined) return { document, failure };
  // Parsing brings the fields into one order, so that a document has the same bytes however it came about.
  const inOrder = kind.schema.safeParse(document);
  if (inOrder.success) return { document: inOrder.data, failure };
  return { document: before, failure: failureAt(stream, document.revision, inOrder.error) };
}

/** @throws InvariantViolation for a stream that has no document: it must not have been asked for. */
export function requireKind(stream: string): DocumentKind {
  const kind = kindOfStream(stream);
  if (kind === undefined) throw new InvariantViolation('a stream without a kind of document was projected');
  return kind;
}

export const failureAt = (stream: string, revision: number, error: unknown): Failure => ({
  failed: { stream, revision, code: errorCode(error) ?? 'event_undecodable' },
  error,
});
