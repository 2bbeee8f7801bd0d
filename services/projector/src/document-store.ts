/** The documents as they lie in the store, the last used ones in memory. */
import type { Appended, Conflict, EventStore } from '@tollgate/event-store';
import {
  streamOf,
  viewStreamOf,
  type DocumentEnvelope,
  type DocumentKind,
  type Generation,
} from '@tollgate/read-models';
import type { Ids } from '@tollgate/service-kit';
import { createRecentlyUsed } from './recently-used.ts';

export interface StoredDocument {
  document: DocumentEnvelope | undefined;
  /** Last revision of the document's own stream. */
  revision: number | 'no-stream';
}

export const notStored: StoredDocument = { document: undefined, revision: 'no-stream' };

/** Documents by the stream whose events are folded into them. */
export interface DocumentStore {
  /** What is remembered of a document; it may be older than what lies in the store. */
  recall(stream: string): StoredDocument | undefined;
  remember(stream: string, stored: StoredDocument): void;
  forgetAll(): void;
  /** @throws StoreUnavailable */
  load(kind: DocumentKind, stream: string): Promise<StoredDocument>;
  /**
   * Puts a document in the place of the one at `expected`.
   *
   * @throws StoreUnavailable, InvalidArgument
   */
  replace(
    kind: DocumentKind,
    document: DocumentEnvelope,
    expected: StoredDocument['revision'],
  ): Promise<Appended | Conflict>;
}

export interface DocumentStoreOptions {
  store: EventStore;
  ids: Ids;
  /** Of the documents. */
  generation: Generation;
  cachedDocumentsMax: number;
}

export function createDocumentStore({
  store,
  ids,
  generation,
  cachedDocumentsMax,
}: DocumentStoreOptions): DocumentStore {
  const recent = createRecentlyUsed<StoredDocument>(cachedDocumentsMax);
  return {
    recall: (stream) => recent.get(stream),
    remember: (stream, stored) => recent.set(stream, stored),
    forgetAll: () => recent.clear(),
    load: async ({ schema }, stream) => {
      const lastOne = { direction: 'backwards', limit: 1 } as const;
      for await (const { data, revision } of store.read(viewStreamOf(stream, generation), lastOne)) {
        // A document that another version wrote is folded again from the beginning.
        const document = schema.safeParse(data);
        return { document: document.success ? document.data : undefined, revision };
      }
      return notStored;
    },
    replace: async (kind, document, expected) => {
      const stream = viewStreamOf(streamOf(kind, document.token), generation);
      // Before the first document, so that a crash in between cannot leave a stream that grows.
      if (expected === 'no-stream') await store.keepLast(stream, 1);
      const event = { id: ids.uuid(), type: kind.writtenEventType, data: document, metadata: {} };
      return store.append(stream, [event], expected);
    },
  };
}
