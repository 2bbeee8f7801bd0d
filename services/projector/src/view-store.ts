/** The documents as they lie in the store, the last used ones in memory. */
import type { Appended, Conflict, EventStore } from '@tollgate/event-store';
import { streamOf, viewStreamOf, type ViewEnvelope, type ViewKind, type ViewVersion } from '@tollgate/views';
import type { Ids } from '@tollgate/service-kit';
import { createRecentlyUsed } from './recently-used.ts';

export interface StoredView {
  view: ViewEnvelope | undefined;
  /** Last revision of the document's own stream. */
  revision: number | 'no-stream';
}

export const notStored: StoredView = { view: undefined, revision: 'no-stream' };

/** Documents by the stream whose events are folded into them. */
export interface ViewStore {
  /** What is remembered of a document; it may be older than what lies in the store. */
  recall(stream: string): StoredView | undefined;
  remember(stream: string, stored: StoredView): void;
  forgetAll(): void;
  /** @throws StoreUnavailable */
  load(kind: ViewKind, stream: string): Promise<StoredView>;
  /**
   * Puts a document in the place of the one at `expected`.
   *
   * @throws StoreUnavailable, InvalidArgument
   */
  replace(kind: ViewKind, view: ViewEnvelope, expected: StoredView['revision']): Promise<Appended | Conflict>;
}

export interface ViewStoreOptions {
  store: EventStore;
  ids: Ids;
  /** Of the documents. */
  viewVersion: ViewVersion;
  cachedViewsMax: number;
}

export function createViewStore({ store, ids, viewVersion, cachedViewsMax }: ViewStoreOptions): ViewStore {
  const recent = createRecentlyUsed<StoredView>(cachedViewsMax);
  return {
    recall: (stream) => recent.get(stream),
    remember: (stream, stored) => recent.set(stream, stored),
    forgetAll: () => recent.clear(),
    load: async ({ schema }, stream) => {
      const lastOne = { direction: 'backwards', limit: 1 } as const;
      for await (const { data, revision } of store.read(viewStreamOf(stream, viewVersion), lastOne)) {
        // A document that another version wrote is folded again from the beginning.
        const view = schema.safeParse(data);
        return { view: view.success ? view.data : undefined, revision };
      }
      return notStored;
    },
    replace: async (kind, view, expected) => {
      const stream = viewStreamOf(streamOf(kind, view.token), viewVersion);
      // Before the first document, so that a crash in between cannot leave a stream that grows.
      if (expected === 'no-stream') await store.keepLast(stream, 1);
      const event = { id: ids.uuid(), type: kind.writtenEventType, data: view, metadata: {} };
      return store.append(stream, [event], expected);
    },
  };
}
