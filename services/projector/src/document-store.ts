/** The documents of payments as they lie in the store, the last used ones in memory. */
import type { Appended, Conflict, EventStore } from '@tollgate/event-store';
import {
  paymentDocumentEventType,
  paymentDocumentSchema,
  paymentViewStream,
  type PaymentDocument,
} from '@tollgate/read-models';
import type { Ids } from '@tollgate/service-kit';
import { createRecentlyUsed } from './recently-used.ts';

export interface StoredDocument {
  document: PaymentDocument | undefined;
  /** Last revision of the document's own stream. */
  revision: number | 'no-stream';
}

export const notStored: StoredDocument = { document: undefined, revision: 'no-stream' };

export interface DocumentStore {
  /** What is remembered of a document; it may be older than what lies in the store. */
  recall(token: string): StoredDocument | undefined;
  remember(token: string, stored: StoredDocument): void;
  forgetAll(): void;
  /** @throws StoreUnavailable */
  load(token: string): Promise<StoredDocument>;
  /**
   * Puts a document in the place of the one at `expected`.
   *
   * @throws StoreUnavailable, InvalidArgument
   */
  replace(document: PaymentDocument, expected: StoredDocument['revision']): Promise<Appended | Conflict>;
}

export interface DocumentStoreOptions {
  store: EventStore;
  ids: Ids;
  cachedDocumentsMax: number;
}

export function createDocumentStore({ store, ids, cachedDocumentsMax }: DocumentStoreOptions): DocumentStore {
  const recent = createRecentlyUsed<StoredDocument>(cachedDocumentsMax);
  return {
    recall: (token) => recent.get(token),
    remember: (token, stored) => recent.set(token, stored),
    forgetAll: () => recent.clear(),
    load: async (token) => {
      const lastOne = { direction: 'backwards', limit: 1 } as const;
      for await (const { data, revision } of store.read(paymentViewStream(token), lastOne)) {
        // A document that another version wrote is folded again from the beginning.
        const document = paymentDocumentSchema.safeParse(data);
        return { document: document.success ? document.data : undefined, revision };
      }
      return notStored;
    },
    replace: async (document, expected) => {
      const stream = paymentViewStream(document.token);
      // Before the first document, so that a crash in between cannot leave a stream that grows.
      if (expected === 'no-stream') await store.keepLast(stream, 1);
      const event = { id: ids.uuid(), type: paymentDocumentEventType, data: document, metadata: {} };
      return store.append(stream, [event], expected);
    },
  };
}
