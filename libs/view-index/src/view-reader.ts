/** Documents out of the store, whichever version of ours has written them. */
import { StoreUnavailable, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import {
  streamOf,
  type ViewEnvelope,
  type ViewKind,
  kindOfViewStream,
  viewStreamOf,
  type ViewVersion,
} from '@tollgate/views';

import type { IndexedView } from './index-file.ts';

/** The state of a stream as it is now, from its events; undefined where it has none. It throws what the fold throws. */
export async function foldStream<View extends ViewEnvelope>(
  store: EventStore,
  kind: ViewKind<View>,
  token: string,
): Promise<View | undefined> {
  let view: View | undefined;
  for await (const event of store.read(streamOf(kind, token))) view = kind.fold(view, event);
  return view;
}

export interface ViewReader {
  /**
   * What an event of a document's stream holds. One of another version is folded again from its events; what cannot be
   * read at all is told in the log and left out.
   *
   * @throws StoreUnavailable
   */
  read(event: RecordedEvent): Promise<IndexedView | undefined>;
}

export function createViewReader({
  store,
  log,
  viewVersion,
}: {
  store: EventStore;
  log: Log;
  viewVersion: ViewVersion;
}): ViewReader {
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

  async function foldAgain(kind: ViewKind, event: RecordedEvent): Promise<IndexedView | undefined> {
    tellOtherVersion(event);
    const token = event.stream.slice(viewStreamOf(kind.streamPrefix, viewVersion).length);
    try {
      const view = kind.schema.parse(await foldStream(store, kind, token));
      return { kind, view };
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      const { stream, revision } = event;
      log.error({ stream, revision, error }, 'a document cannot be read; the index goes on without it');
      return undefined;
    }
  }

  return {
    read: async (event) => {
      const kind = kindOfViewStream(event.stream, viewVersion);
      if (kind === undefined) return undefined;
      const view = kind.schema.safeParse(event.data);
      return view.success ? { kind, view: view.data } : foldAgain(kind, event);
    },
  };
}
