/** Documents out of the store, whichever version of ours has written them. */
import { StoreUnavailable, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import { streamOf, type DocumentEnvelope, type DocumentKind } from './document-kind.ts';
import { kindOfViewStream } from './document-kinds.ts';
import type { IndexedDocument } from './index-file.ts';
import { viewStreamOf, type Generation } from './view-streams.ts';

/** The state of a stream as it is now, from its events; undefined where it has none. It throws what the fold throws. */
export async function foldStream<Document extends DocumentEnvelope>(
  store: EventStore,
  kind: DocumentKind<Document>,
  token: string,
): Promise<Document | undefined> {
  let document: Document | undefined;
  for await (const event of store.read(streamOf(kind, token))) document = kind.fold(document, event);
  return document;
}

export interface DocumentReader {
  /**
   * What an event of a document's stream holds. One of another version is folded again from its events; what cannot be
   * read at all is told in the log and left out.
   *
   * @throws StoreUnavailable
   */
  read(event: RecordedEvent): Promise<IndexedDocument | undefined>;
}

export function createDocumentReader({
  store,
  log,
  generation,
}: {
  store: EventStore;
  log: Log;
  generation: Generation;
}): DocumentReader {
  let isOtherVersionTold = false;

  /** There may be as many of them as there are payments, so they are told once. */
  function tellOtherVersion({ stream }: RecordedEvent): void {
    if (isOtherVersionTold) return;
    isOtherVersionTold = true;
    log.warn(
      { stream },
      'documents of another version are in the store; they are folded again from their events',
    );
  }

  async function foldAgain(kind: DocumentKind, event: RecordedEvent): Promise<IndexedDocument | undefined> {
    tellOtherVersion(event);
    const token = event.stream.slice(viewStreamOf(kind.streamPrefix, generation).length);
    try {
      const document = kind.schema.parse(await foldStream(store, kind, token));
      return { kind, document };
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      const { stream, revision } = event;
      log.error({ stream, revision, error }, 'a document cannot be read; the index goes on without it');
      return undefined;
    }
  }

  return {
    read: async (event) => {
      const kind = kindOfViewStream(event.stream, generation);
      if (kind === undefined) return undefined;
      const document = kind.schema.safeParse(event.data);
      return document.success ? { kind, document: document.data } : foldAgain(kind, event);
    },
  };
}
