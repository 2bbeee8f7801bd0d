import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import type { DocumentEnvelope } from '@tollgate/read-models';
import type { PublishedKind } from './published-kinds.ts';

/** Documents held in memory at most; the least recently used go first and are read again when they come back. */
const documentsMax = 10_000;

/** What events are about, as it stood right after each. */
export interface Histories {
  /** @throws StoreUnavailable; what the fold throws where the stream cannot be read on */
  documentAfter(kind: PublishedKind, event: RecordedEvent): Promise<DocumentEnvelope>;
}

export function createHistories(store: Pick<EventStore, 'read'>): Histories {
  const recent = new Map<string, DocumentEnvelope>();

  async function documentBefore({ documents }: PublishedKind, { stream, revision }: RecordedEvent) {
    const known = recent.get(stream);
    if (revision === 0 || known?.revision === revision - 1) return known;
    let document: DocumentEnvelope | undefined;
    for await (const earlier of store.read(stream, { limit: revision }))
      document = documents.fold(document, earlier);
    return document;
  }

  function remember(stream: string, document: DocumentEnvelope): void {
    recent.delete(stream);
    recent.set(stream, document);
    const [oldest] = recent.keys();
    if (recent.size > documentsMax && oldest !== undefined) recent.delete(oldest);
  }

  return {
    documentAfter: async (kind, event) => {
      const before = event.revision === 0 ? undefined : await documentBefore(kind, event);
      const document = kind.documents.fold(before, event);
      remember(event.stream, document);
      return document;
    },
  };
}
